// equivalent --param n=8
#include <omp.h>
void k(int n, double A[n][n], double x[n], double y[n], double t[n]) {
  int i, j;
#pragma omp parallel private(i, j) shared(A, x, y, t)
  {
#pragma omp for schedule(static)
    for (i = 0; i < n; i++) { t[i] = 0; for (j = 0; j < n; j++) t[i] += A[i][j] * x[j]; }
#pragma omp for
    for (j = 0; j < n; j++) { y[j] = 0; for (i = 0; i < n; i++) y[j] += A[i][j] * t[i]; }
  }
}
