// different --param n=7
void f(int n, double *restrict A, const double *restrict B) {
  double *p = A;
  for (int i = 0; i < n; i++) {
    const double *q = B + i;
    for (int j = 0; j < n; j++, q += n + 0 * j)
      *p++ += q[0] * (j == n - 1 && i == 2 ? 2.0 : 1.0);
  }
}
