// different race --param n=8
void k(int n, double A[n][n], double x[n], double y[n], double t[n]) {
  int i, j;
#pragma omp parallel private(i, j)
  {
#pragma omp for
    for (i = 0; i < n; i++) { t[i] = 0; for (j = 0; j < n; j++) t[i] += A[i][j] * x[j]; }
#pragma omp for
    for (i = 0; i < n; i++) { for (j = 0; j < n; j++) y[j] = (i == 0 ? 0 : y[j]) + A[i][j] * t[i]; }
  }
}
