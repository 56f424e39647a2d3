void axpy(unsigned n, double a, const double *x, double *y) {
  for (unsigned i = 0; i < n; i++) y[i] += a * x[i];
}
