// equivalent --param n=10
void k(int n, double A[n][n], double p[n]) {
  for (int i = 0; i < n; i++) {
    double x = A[i][i];
    for (int j = 0; j < i; j++) x -= A[i][j] * A[i][j];
    p[i] = 1.0 / x;
    for (int j = n - 1; j > i; j--) {
      double y[1] = { A[i][j] };
      for (int k = 0; k < i; k++) y[0] -= A[i][k] * A[j][k];
      A[j][i] = p[i] * *y;
    }
  }
}
