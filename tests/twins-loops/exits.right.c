/* Loops that end early, and rightly. */
#include "../twins/twins.h"

int find(const int *a, int n, int x) {
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] == x) return i; return -1;)
  CANDIDATE(int i = 0; while (i < n && a[i] != x) i++; return i < n ? i : -1;)
}

int compare_texts(const char *a, const char *b) {
  ORIGINAL(while (*a && *a == *b) { a++; b++; } return (unsigned char)*a - (unsigned char)*b;)
  CANDIDATE(long i = 0; while (a[i] == b[i] && a[i]) i++; return (unsigned char)a[i] - (unsigned char)b[i];)
}

int equal_blocks(const char *a, const char *b, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] != b[i]) return 0; return 1;)
  CANDIDATE(for (; n > 0; n--) if (*a++ != *b++) return 0; return 1;)
}

unsigned greatest_divisor(unsigned a, unsigned b) {
  ORIGINAL(while (b) { unsigned t = a % b; a = b; b = t; } return a;)
  CANDIDATE(for (unsigned t; b != 0; b = t) { t = a % b; a = b; } return a;)
}
