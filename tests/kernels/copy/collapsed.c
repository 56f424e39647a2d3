// different race --param n=4
void copy(int n, double A[n][n], double B[n][n]) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      B[i][j] = A[i][j] + (j > 0 ? B[i][j-1] : 0.0);
}
