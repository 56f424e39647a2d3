void k(int n, double A[n][n], double p[n]) {
  for (int i = 0; i < n; i++) {
    double x = A[i][i];
    for (int j = 0; j < i; j++) x = x - A[i][j] * A[i][j];
    p[i] = 1.0 / x;
    for (int j = i + 1; j < n; j++) {
      x = A[i][j];
      for (int k = 0; k < i; k++) x = x - A[j][k] * A[i][k];
      A[j][i] = x * p[i];
    }
  }
}
