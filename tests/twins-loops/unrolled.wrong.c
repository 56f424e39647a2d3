/* Unrolling and vectorising by hand, with a mistake in the remainder. */
#include "../twins/twins.h"

int no_remainder(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(for (int i = 0; i + 3 < n; i += 4) s += a[i] + a[i + 1] + a[i + 2] + a[i + 3];)
  return s;
}

int remainder_of_four(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(int i = 0; for (; i + 4 < n; i += 4) s += a[i] + a[i + 1] + a[i + 2] + a[i + 3]; if (i < n) s += a[i];
            if (i + 1 < n) s += a[i + 1]; if (i + 2 < n) s += a[i + 2];)
  return s;
}

void remainder_mask(int *a, unsigned n) {
  ORIGINAL(for (unsigned i = 0; i < n; i++) a[i] += 3;)
  CANDIDATE(unsigned i = 0; for (; i < (n & ~3u); i += 4) { a[i] += 3; a[i + 1] += 3; a[i + 2] += 3; a[i + 3] += 3; }
            for (; i < (n & ~1u); i++) a[i] += 3;)
}

int duplicate_lane(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(int i = 0; for (; i + 1 < n; i += 2) s += a[i] + a[i]; if (i < n) s += a[i];)
  return s;
}

unsigned order_of_lanes(const unsigned char *p, int n) {
  unsigned h = 0;
  ORIGINAL(for (int i = 0; i < n; i++) h = h * 33 ^ p[i];)
  CANDIDATE(int i = 0; for (; i + 1 < n; i += 2) h = (h * 33 ^ p[i + 1]) * 33 ^ p[i]; if (i < n) h = h * 33 ^ p[i];)
  return h;
}

int even_only(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s ^= a[i];)
  CANDIDATE(for (int i = 0; i < n; i += 2) { s ^= a[i]; s ^= a[i + 1]; })
  return s;
}

int partial_sums_forgotten(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(int t = 0; int i = 0; for (; i + 1 < n; i += 2) { s += a[i]; t += a[i + 1]; } if (i < n) s += a[i];
            else if (n < 8) s += t; if (n & 1) s += t;)
  return s;
}

void stop_before_block(short *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) a[i] = (short)(a[i] * 2);)
  CANDIDATE(int i = 0; while (n - i > 8) { for (int k = 0; k < 8; k++) a[i + k] = (short)(a[i + k] * 2); i += 8; }
            while (n - i > 1) { a[i] = (short)(a[i] * 2); i++; })
}
