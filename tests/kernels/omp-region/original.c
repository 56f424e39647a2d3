void k(int n, double A[n][n], double x[n], double y[n], double t[n]) {
  for (int i = 0; i < n; i++) { t[i] = 0; for (int j = 0; j < n; j++) t[i] += A[i][j] * x[j]; }
  for (int j = 0; j < n; j++) { y[j] = 0; for (int i = 0; i < n; i++) y[j] += A[i][j] * t[i]; }
}
