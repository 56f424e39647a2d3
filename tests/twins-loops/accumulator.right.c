/* What a loop carries from turn to turn. */
#include "../twins/twins.h"

int count_sign(const int *a, int n) {
  int c = 0;
  ORIGINAL(for (int i = 0; i < n; i++) c += a[i] > 0;)
  CANDIDATE(for (int i = 0; i < n; i++) if (a[i] > 0) c++;)
  return c;
}

long wide_sum(const int *a, int n) {
  long s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(for (int i = 0; i < n; i++) s -= -(long)a[i];)
  return s;
}

int maximum(const int *a, int n) {
  int m = 0;
  ORIGINAL(for (int i = 0; i < n; i++) if (a[i] > m) m = a[i];)
  CANDIDATE(for (int i = 0; i < n; i++) m = a[i] > m ? a[i] : m;)
  return m;
}

unsigned fibonacci(unsigned n) {
  unsigned a = 0;
  unsigned b = 1;
  ORIGINAL(for (unsigned i = 0; i < (n & 31); i++) { unsigned t = a + b; a = b; b = t; })
  CANDIDATE(for (unsigned i = n & 31; i != 0; i--) { b += a; a = b - a; })
  return a;
}

double sum_of_floats(const double *a, int n) {
  double s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(for (int i = 0; i < n; i++) s = a[i] + s;)
  return s;
}

int inner_sum(const int *a, int n) {
  int best = 0;
  ORIGINAL(for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < 3; j++) s += a[i + j]; if (s > best) best = s; })
  CANDIDATE(for (int i = 0; i < n; i++) { int s = a[i] + a[i + 1] + a[i + 2]; if (s > best) best = s; })
  return best;
}
