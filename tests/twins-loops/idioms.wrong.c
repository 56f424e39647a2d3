/* Loops that fill, copy and compare, as calls or in wider steps: wrong length, wrong value, or wrong where the operands meet. */
#include "../twins/twins.h"
#include <string.h>

void fill_length(char *p, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) p[i] = 0;)
  CANDIDATE(if (n > 0) memset(p, 0, (size_t)n - 1);)
}

void fill_value(char *p, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) p[i] = 1;)
  CANDIDATE(if (n > 0) memset(p, 2, (size_t)n);)
}

void fill_ints(int *p, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) p[i] = 1;)
  CANDIDATE(if (n > 0) memset(p, 1, (size_t)n * 4);)
}

void fill_bytes_of_ints(int *p, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) p[i] = -1;)
  CANDIDATE(if (n > 0) memset(p, -1, (size_t)n);)
}

void fill_unguarded(char *p, unsigned n) {
  ORIGINAL(for (unsigned i = 0; i + 1 < n && i < 64; i++) p[i] = 0;)
  CANDIDATE(memset(p, 0, n < 64 ? n : 64);)
}

void copy_length(char *to, const char *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = from[i];)
  CANDIDATE(if (n > 1) memmove(to, from, (size_t)n);)
}

void copy_overlap(char *to, const char *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = from[i];)
  CANDIDATE(if (n > 0) memmove(to, from, (size_t)n);)
}

void copy_back_overlap(char *p, int n) {
  ORIGINAL(for (int i = n - 1; i >= 0; i--) p[i + 1] = p[i];)
  CANDIDATE(for (int i = 0; i < n; i++) p[i + 1] = p[i];)
}

void smear(char *p, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) p[i + 1] = p[i];)
  CANDIDATE(if (n > 0) memmove(p + 1, p, (size_t)n);)
}

void four_at_once(char *to, const char *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = from[i];)
  CANDIDATE(int i = 0; for (; i + 4 <= n; i += 4) { char a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
            to[i] = a; to[i + 1] = b; to[i + 2] = c; to[i + 3] = d; } for (; i < n; i++) to[i] = from[i];)
}

void words_at_once(short *to, const short *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = (short)(from[i] + 1);)
  CANDIDATE(int i = 0; for (; i + 2 <= n; i += 2) { short a = from[i], b = from[i + 1]; to[i] = (short)(a + 1); to[i + 1] = (short)(b + 1); }
            for (; i < n; i++) to[i] = (short)(from[i] + 1);)
}

void distance_test(int *to, const int *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = from[i] + 1;)
  CANDIDATE(int i = 0; if ((uintptr_t)to - (uintptr_t)from > 4)
              for (; i + 4 <= n; i += 4) { int a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
                to[i] = a + 1; to[i + 1] = b + 1; to[i + 2] = c + 1; to[i + 3] = d + 1; }
            for (; i < n; i++) to[i] = from[i] + 1;)
}

void reversed_copy(int *to, const int *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[n - 1 - i] = from[i];)
  CANDIDATE(for (int i = n - 1; i >= 0; i--) to[n - 1 - i] = from[i];)
}

int equal_length(const char *a, const char *b, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] != b[i]) return 0; return 1;)
  CANDIDATE(for (int i = 0; i + 1 < n; i++) if (a[i] != b[i]) return 0; return 1;)
}

int order_of_bytes(const char *a, const char *b, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1; return 0;)
  CANDIDATE(for (int i = 0; i < n; i++) if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1; return 0;)
}

unsigned long length_by_words(const char *s) {
  ORIGINAL(unsigned long n = 0; while (s[n]) n++; return n;)
  CANDIDATE(unsigned long n = 0; while (s[n] && s[n + 1] && s[n + 2] && s[n + 3]) n += 4; while (s[n] > 0) n++; return n;)
}

unsigned long length_of_high(const char *s) {
  ORIGINAL(unsigned long n = 0; while (s[n]) n++; return n;)
  CANDIDATE(unsigned long n = 0; while (s[n] & 0x7f) n++; return n;)
}

unsigned long bounded_length(const char *s, unsigned long most) {
  ORIGINAL(unsigned long n = 0; while (n < most && s[n]) n++; return n;)
  CANDIDATE(unsigned long n = 0; while (s[n] && n < most) n++; return n == most + 1 ? most : n + (n == 9);)
}

int has_zero_byte(const unsigned *p, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) for (int k = 0; k < 32; k += 8) if (!((p[i] >> k) & 255)) return 1; return 0;)
  CANDIDATE(for (int i = 0; i < n; i++) if ((p[i] - 0x01010101u) & 0x80808080u) return 1; return 0;)
}
