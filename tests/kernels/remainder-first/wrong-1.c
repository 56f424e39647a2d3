// different missing-update line 2 at i=22 --param n=23
void axpy(unsigned n, double a, const double * restrict x, double * restrict y) {
  unsigned i = 0;
  for (; i + 4 <= n; i += 4) {
    y[i] += a * x[i]; y[i+1] += a * x[i+1]; y[i+2] += a * x[i+2]; y[i+3] += a * x[i+3];
  }
  if (i < n) { y[i] += a * x[i]; i++; }
  if (i < n) { y[i] += a * x[i]; i++; }
}
