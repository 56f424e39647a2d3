// equivalent --fp ieee
double f(const double *x, double *sum, int *count) {
  double s = 0;
  int positive = 0;
  for (const double *p = x; p < x + 8; p++) {
    s += *p;
    if (*p > 0)
      positive++;
  }
  sum[0] = s;
  count[0] = positive;
  return s / 8;
}
