void k(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], double G[n][n]) {
  double E[n][n], F[n][n];
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { E[i][j] = 0; for (int k = 0; k < n; k++) E[i][j] += A[i][k]*B[k][j]; }
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { F[i][j] = 0; for (int k = 0; k < n; k++) F[i][j] += C[i][k]*D[k][j]; }
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { G[i][j] = 0; for (int k = 0; k < n; k++) G[i][j] += E[i][k]*F[k][j]; }
}
