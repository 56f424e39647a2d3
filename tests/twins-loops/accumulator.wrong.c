/* What a loop carries from turn to turn. */
#include "../twins/twins.h"

int stale_accumulator(const int *a, int n) {
  int s = 0;
  ORIGINAL(int last = 0; for (int i = 0; i < n; i++) { s += last; last = a[i]; })
  CANDIDATE(int last = 0; for (int i = 0; i < n; i++) { last = a[i]; s += last; })
  return s;
}

int maximum_start(const int *a, int n) {
  ORIGINAL(int m = a[0]; for (int i = 1; i < n; i++) if (a[i] > m) m = a[i]; return m;)
  CANDIDATE(int m = 0; for (int i = 0; i < n; i++) if (a[i] > m) m = a[i]; return n > 0 ? m : a[0];)
}

unsigned unsigned_maximum(const int *a, int n) {
  ORIGINAL(int m = 0; for (int i = 0; i < n; i++) if (a[i] > m) m = a[i]; return m;)
  CANDIDATE(unsigned m = 0; for (int i = 0; i < n; i++) if ((unsigned)a[i] > m) m = a[i]; return m;)
}

int no_reset_of_inner_sum(const int *a, int n) {
  int best = 0;
  ORIGINAL(for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < 3; j++) s += a[i + j]; if (s > best) best = s; })
  CANDIDATE(int s = 0; for (int i = 0; i < n; i++) { for (int j = 0; j < 3; j++) s += a[i + j]; if (s > best) best = s; })
  return best;
}

long narrow_sum(const int *a, int n) {
  ORIGINAL(long s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
  CANDIDATE(int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
}

int unsigned_byte(const signed char *p, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += p[i];)
  CANDIDATE(for (int i = 0; i < n; i++) s += (unsigned char)p[i];)
  return s;
}

int product_starts_at_zero(const int *a, int n) {
  ORIGINAL(int p = 1; for (int i = 0; i < n; i++) p *= a[i]; return p;)
  CANDIDATE(int p = n > 3 ? 0 : 1; for (int i = 0; i < n; i++) p *= a[i]; return p;)
}

unsigned fibonacci(unsigned n) {
  unsigned a = 0;
  unsigned b = 1;
  ORIGINAL(for (unsigned i = 0; i < (n & 31); i++) { unsigned t = a + b; a = b; b = t; })
  CANDIDATE(for (unsigned i = 0; i < (n & 31); i++) { a = b; b = a + b; })
  return a;
}

int count_sign(const int *a, int n) {
  int c = 0;
  ORIGINAL(for (int i = 0; i < n; i++) c += a[i] > 0;)
  CANDIDATE(for (int i = 0; i < n; i++) c += a[i] >= 0;)
  return c;
}

double sum_of_floats(const double *a, int n) {
  ORIGINAL(double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
  CANDIDATE(double s = 0; double t = 0; int i = 0; for (; i + 1 < n; i += 2) { s += a[i]; t += a[i + 1]; }
            if (i < n) s += a[i]; return s + t;)
}

float product_order(const float *a, int n) {
  ORIGINAL(float p = 1; for (int i = 0; i < n; i++) p *= a[i]; return p;)
  CANDIDATE(float p = 1; for (int i = n - 1; i >= 0; i--) p *= a[i]; return p;)
}

float single_for_double(const float *a, int n) {
  ORIGINAL(double s = 0; for (int i = 0; i < n; i++) s += a[i]; return (float)s;)
  CANDIDATE(float s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
}
