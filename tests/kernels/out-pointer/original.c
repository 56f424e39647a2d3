double f(const double *x, double *sum, int *count) {
  *sum = 0;
  *count = 0;
  for (int i = 0; i < 8; i++) {
    *sum += x[i];
    if (x[i] > 0)
      ++*count;
  }
  return *sum / 8;
}
