void f(long n, float *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] * b[i];
}
