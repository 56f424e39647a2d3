// equivalent --param n=5
#include <stdlib.h>
#include <string.h>
static void mm(size_t n, const double *restrict a, const double *restrict b, double *restrict c) {
  memset(c, 0, n * n * sizeof *c);
  for (size_t k = 0; k < n; k++) for (size_t i = 0; i < n; i++) for (size_t j = 0; j < n; j++) c[i*n+j] += a[i*n+k]*b[k*n+j];
}
void k(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], double G[n][n]) {
  double *E = malloc(sizeof(double[n][n])), *F = calloc(n * n, sizeof *F);
  if (!E || !F) return;
  mm(n, &A[0][0], (double *)B, E);
  mm(n, C[0], *D, F);
  mm(n, E, F, &G[0][0]);
  free(E), free(F);
}
