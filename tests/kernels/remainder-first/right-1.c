// equivalent --param n=23
void axpy(unsigned n, double a, const double * restrict x, double * restrict y) {
  if (n == 0) return;
  unsigned i = 0, m = n % 4;
  for (;;) {
    if (i >= m) break;
    y[i] = y[i] + a * x[i], i++;
  }
  if (n < 4) return;
  while (1) {
    y[i] += a * x[i]; y[i+1] += a * x[i+1]; y[i+2] += a * x[i+2]; y[i+3] += a * x[i+3];
    if ((i += 4) >= n) break;
  }
}
