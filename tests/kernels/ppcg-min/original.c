void mv(long n, double A[n][n], double x[n], double y[n]) {
  for (long i = 0; i < n; i++) for (long j = 0; j < n; j++) y[i] += A[i][j] * x[j];
}
