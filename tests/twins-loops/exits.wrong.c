/* Loops that end early. */
#include "../twins/twins.h"

int find_last(const int *a, int n, int x) {
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] == x) return i; return -1;)
  CANDIDATE(int r = -1; for (int i = 0; i < n; i++) if (a[i] == x) r = i; return r;)
}

int found_index(const int *a, int n, int x) {
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] == x) return i; return -1;)
  CANDIDATE(for (int i = 0; i < n; i++) if (a[i] == x) return i + 1; return -1;)
}

int not_found(const int *a, int n, int x) {
  ORIGINAL(int i = 0; while (i < n && a[i] != x) i++; return i < n ? i : -1;)
  CANDIDATE(int i = 0; while (i < n && a[i] != x) i++; return i;)
}

int skip_last(const char *s, char c) {
  ORIGINAL(int i = 0; for (; s[i]; i++) if (s[i] == c) return i; return -1;)
  CANDIDATE(int i = 0; for (; s[i] && s[i + 1]; i++) if (s[i] == c) return i; return -1;)
}

int compare_texts(const char *a, const char *b) {
  ORIGINAL(while (*a && *a == *b) { a++; b++; } return (unsigned char)*a - (unsigned char)*b;)
  CANDIDATE(while (*a && *a == *b) { a++; b++; } return *a - *b;)
}

int break_for_continue(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) { if (a[i] < 0) continue; s += a[i]; })
  CANDIDATE(for (int i = 0; i < n; i++) { if (a[i] < 0) break; s += a[i]; })
  return s;
}

int binary_search(const int *a, unsigned n, int x) {
  unsigned lo = 0;
  unsigned hi = n & 63;
  ORIGINAL(while (lo < hi) { unsigned m = (lo + hi) / 2; if (a[m] < x) lo = m + 1; else hi = m; })
  CANDIDATE(while (lo < hi) { unsigned m = (lo + hi) / 2; if (a[m] <= x) lo = m + 1; else hi = m; })
  return (int)lo;
}

int equal_blocks(const char *a, const char *b, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] != b[i]) return 0; return 1;)
  CANDIDATE(for (int i = 0; i < n; i++) if (a[i] != b[i]) return 0; return n > 0;)
}

unsigned greatest_divisor(unsigned a, unsigned b) {
  ORIGINAL(while (b) { unsigned t = a % b; a = b; b = t; } return a;)
  CANDIDATE(while (b > 1) { unsigned t = a % b; a = b; b = t; } return a;)
}
