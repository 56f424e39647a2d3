/* Unrolling by hand, done well. */
#include "../twins/twins.h"

int by_two(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(int i = 0; for (; i + 1 < n; i += 2) s += a[i] + a[i + 1]; if (i < n) s += a[i];)
  return s;
}

void by_four(int *a, unsigned n) {
  ORIGINAL(for (unsigned i = 0; i < n; i++) a[i] += 3;)
  CANDIDATE(unsigned i = 0; for (; i < (n & ~3u); i += 4) { a[i] += 3; a[i + 1] += 3; a[i + 2] += 3; a[i + 3] += 3; }
            for (; i < n; i++) a[i] += 3;)
}

unsigned hash_by_two(const unsigned char *p, int n) {
  unsigned h = 0;
  ORIGINAL(for (int i = 0; i < n; i++) h = h * 33 ^ p[i];)
  CANDIDATE(int i = 0; for (; i + 1 < n; i += 2) h = (h * 33 ^ p[i]) * 33 ^ p[i + 1]; if (i < n) h = h * 33 ^ p[i];)
  return h;
}

int two_sums(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(int t = 0; int i = 0; for (; i + 1 < n; i += 2) { s += a[i]; t += a[i + 1]; } if (i < n) s += a[i]; s += t;)
  return s;
}
