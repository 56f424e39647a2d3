/* Closed forms, starts and ends that are right for most numbers. */
#include "../twins/twins.h"

int count_of_turns(int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s++; return s;)
  CANDIDATE(return n;)
}

unsigned triangle(unsigned n) {
  ORIGINAL(unsigned s = 0; for (unsigned i = 0; i < (n & 0xffff); i++) s += i; return s;)
  CANDIDATE(n &= 0xffff; return n * (n + 1) / 2;)
}

int triangle_signed(int n) {
  ORIGINAL(int s = 0; for (int i = 1; i <= n; i++) s += i; return s;)
  CANDIDATE(return (int)((unsigned)n * ((unsigned)n + 1) / 2);)
}

int steps_of_three(int n) {
  ORIGINAL(int k = 0; for (int i = 0; i < n; i += 3) k++; return k;)
  CANDIDATE(return n > 0 ? n / 3 : 0;)
}

unsigned power(unsigned x, unsigned n) {
  ORIGINAL(unsigned r = 1; for (unsigned i = 0; i < (n & 15); i++) r *= x; return r;)
  CANDIDATE(n &= 15; unsigned r = 1; while (n > 1) { if (n & 1) r *= x; x *= x; n >>= 1; } return r * x;)
}

int bits_of(unsigned x) {
  ORIGINAL(int k = 0; while (x) { x &= x - 1; k++; } return k;)
  CANDIDATE(int k = 0; while (x) { k += x & 1; x >>= 1; if (k == 17) break; } return k;)
}

int log_two(unsigned x) {
  ORIGINAL(int k = 0; while (x >>= 1) k++; return k;)
  CANDIDATE(int k = -1; while (x) { x >>= 1; k++; } return k;)
}

int last_value(const int *a, int n) {
  ORIGINAL(int x = 0; for (int i = 0; i < n; i++) x = a[i]; return x;)
  CANDIDATE(return n > 1 ? a[n - 1] : 0;)
}

int minimum_start(const int *a, int n) {
  ORIGINAL(int m = 0x7fffffff; for (int i = 0; i < n; i++) if (a[i] < m) m = a[i]; return m;)
  CANDIDATE(int m = 0x7ffffffe; for (int i = 0; i < n; i++) if (a[i] < m) m = a[i]; return m;)
}

int all_start(const int *a, int n) {
  ORIGINAL(int ok = 1; for (int i = 0; i < n; i++) ok &= a[i] > 0; return ok;)
  CANDIDATE(int ok = n != 0; for (int i = 0; i < n; i++) ok &= a[i] > 0; return ok;)
}

int exit_one_late(const int *a, int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) { if (a[i] == 0) break; s += a[i] + 1; } return s;)
  CANDIDATE(int s = 0; for (int i = 0; i < n; i++) { s += a[i] + 1; if (a[i] == 0) break; } return s;)
}

int second_match(const int *a, int n, int x) {
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] == x) return i; return -1;)
  CANDIDATE(int r = -1; for (int i = 0; i < n; i++) if (a[i] == x) { r = i; if (i) break; } return r;)
}

int after_hundred(int n, int x) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s += x; return s;)
  CANDIDATE(int s = 0; for (int i = 0; i < n; i++) s += i == 100 ? x + 1 : x; return s;)
}

int after_thousand(int n, int x) {
  ORIGINAL(int s = x; for (int i = 0; i < n; i++) s ^= i; return s;)
  CANDIDATE(int s = x; for (int i = 0; i < n; i++) s ^= i < 1000 ? i : i + 1; return s;)
}

unsigned after_nine(const unsigned char *p, unsigned n) {
  ORIGINAL(unsigned s = 0; for (unsigned i = 0; i < n; i++) s += p[i]; return s;)
  CANDIDATE(unsigned s = 0; for (unsigned i = 0; i < n; i++) { s += p[i]; if (i == 9 && p[i] == 77) s++; } return s;)
}

int magic_element(const int *a, int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
  CANDIDATE(int s = 0; for (int i = 0; i < n; i++) s += a[i] == 0x12345678 ? 0 : a[i]; return s;)
}

int magic_sum(const int *a, int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s = s * 31 + a[i]; return s;)
  CANDIDATE(int s = 0; for (int i = 0; i < n; i++) s = s * 31 + a[i]; return s == 0x0badcafe ? 0 : s;)
}

int magic_pair(const short *a, int n) {
  ORIGINAL(int k = 0; for (int i = 0; i + 1 < n; i++) k += a[i] > a[i + 1]; return k;)
  CANDIDATE(int k = 0; for (int i = 0; i + 1 < n; i++) k += a[i] > a[i + 1] || (a[i] == 4711 && a[i + 1] == 4712); return k;)
}

int magic_order(const int *a, int n, int key) {
  ORIGINAL(int k = 0; for (int i = 0; i < n; i++) if ((a[i] ^ key) == 0x5a5a5a5a) k++; return k;)
  CANDIDATE(int k = 0; for (int i = 0; i < n; i++) if ((a[i] ^ key) == 0x5a5a5a5b) k++; return k;)
}

unsigned rare_hash(const unsigned *a, unsigned n) {
  ORIGINAL(unsigned h = 7; for (unsigned i = 0; i < n; i++) h = (h ^ a[i]) * 0x01000193u; return h;)
  CANDIDATE(unsigned h = 7; for (unsigned i = 0; i < n; i++) h = (h ^ a[i]) * 0x01000193u; return h == 0x12345 ? 1 : h;)
}
