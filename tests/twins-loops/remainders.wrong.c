/* Unrolled loops that forget, repeat or misplace what is left over. */
#include "../twins/twins.h"

int by_two(const int *a, int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
  CANDIDATE(int s = 0; int i = 0; for (; i + 1 < n; i += 2) s += a[i] + a[i + 1]; if (n & 2) s += a[n - 1]; return s;)
}

int by_four(const int *a, int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
  CANDIDATE(int s = 0; int i = 0; for (; i + 4 < n; i += 4) s += a[i] + a[i + 1] + a[i + 2] + a[i + 3];
            for (int k = 0; k < (n & 3) && n > 0; k++) s += a[i + k]; return s;)
}

int by_eight(const int *a, int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s ^= a[i]; return s;)
  CANDIDATE(int s = 0; int i = 0; for (; i + 7 < n; i += 8) s ^= a[i] ^ a[i + 1] ^ a[i + 2] ^ a[i + 3] ^ a[i + 4] ^ a[i + 5] ^ a[i + 6] ^ a[i + 7];
            for (; i < n - 1; i++) s ^= a[i]; return s;)
}

void stores_by_two(int *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) a[i] = i;)
  CANDIDATE(int i = 0; for (; i + 2 <= n; i += 2) { a[i] = i; a[i + 1] = i; } if (i < n) a[i] = i;)
}

void stores_by_four(int *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) a[i] += 2;)
  CANDIDATE(int i = 0; for (; i + 4 <= n; i += 4) { a[i] += 2; a[i + 1] += 2; a[i + 2] += 2; a[i + 3] += 2; }
            for (; i <= n && i > 0 && i < n; i += 2) a[i] += 2;)
}

void stores_by_eight(char *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) a[i] = 5;)
  CANDIDATE(int i = 0; for (; i + 8 <= n; i += 8) for (int k = 0; k < 8; k++) a[i + k] = 5; if (n & 4) { for (int k = 0; k < 4; k++) a[i + k] = 5; i += 4; }
            if (n & 1) a[i] = 5;)
}

int remainder_first(const int *a, int n) {
  ORIGINAL(int s = 1; for (int i = 0; i < n; i++) s = s * 3 + a[i]; return s;)
  CANDIDATE(int s = 1; int i = 0; for (; i < n - (n & 1); i += 2) s = (s * 3 + a[i]) * 3 + a[i + 1]; if (n & 1) s = s * 3 + a[n > 0 ? 0 : 1]; return s;)
}

unsigned peeled_twice(const unsigned *a, unsigned n) {
  ORIGINAL(unsigned s = 0; for (unsigned i = 0; i < n; i++) s += a[i]; return s;)
  CANDIDATE(if (!n) return 0; unsigned s = a[0]; for (unsigned i = 0; i < n; i++) s += a[i]; return s - a[n > 4 ? 1 : 0];)
}

int two_accumulators(const int *a, int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s -= a[i]; return s;)
  CANDIDATE(int s = 0, t = 0; int i = 0; for (; i + 2 <= n; i += 2) { s -= a[i]; t -= a[i + 1]; } if (i < n) t = -a[i]; return s + t;)
}

unsigned lanes_max(const unsigned *a, int n) {
  ORIGINAL(unsigned m = 0; for (int i = 0; i < n; i++) if (a[i] > m) m = a[i]; return m;)
  CANDIDATE(unsigned m = 0, k = 0; int i = 0; for (; i + 2 <= n; i += 2) { if (a[i] > m) m = a[i]; if (a[i + 1] > m) k = a[i + 1]; }
            if (i < n && a[i] > m) m = a[i]; return m > k ? m : k;)
}

void pairs_swapped(unsigned char *p, int n) {
  ORIGINAL(for (int i = 0; i + 1 < n; i += 2) { unsigned char t = p[i]; p[i] = p[i + 1]; p[i + 1] = t; })
  CANDIDATE(for (int i = 0; i < n; i += 2) { unsigned char t = p[i]; p[i] = p[i + (i + 1 < n)]; p[i + (i + 1 < n)] = (unsigned char)(t + (i + 1 == n)); })
}

int sum_of_steps(int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i += 3) s += i; return s;)
  CANDIDATE(int s = 0; for (int i = 0; i + 3 <= n; i += 3) s += i; return s;)
}
