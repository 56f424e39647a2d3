// different flow line 9 at i=0,j=2 --param n=10
void k(int n, double A[n][n], double p[n]) {
  for (int i = 0; i < n; i++) {
    double x = A[i][i];
    for (int j = 0; j < i; j++) x = x - A[i][j] * A[i][j];
    p[i] = 1.0 / x;
    x = A[i][i + 1 < n ? i + 1 : i];
    for (int j = i + 1; j < n; j++) {
      for (int k = 0; k < i; k++) x = x - A[j][k] * A[i][k];
      A[j][i] = x * p[i];
    }
  }
}
