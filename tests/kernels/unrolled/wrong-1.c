// different --param n=11
void f(long n, float *restrict a, const float *restrict b) {
  long i = 0;
  for (; i + 3 <= n; i += 4) {
    a[i] = b[i] * b[i];
    a[i + 1] = b[i + 1] * b[i + 1];
    a[i + 2] = b[i + 2] * b[i + 2];
    a[i + 3] = b[i + 3] * b[i + 3];
  }
  for (; i < n; ++i)
    a[i] = b[i] * b[i];
}
