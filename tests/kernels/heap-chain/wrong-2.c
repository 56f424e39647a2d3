// different --param n=5
#include <stdlib.h>
void k(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], double G[n][n]) {
  double (*E)[n] = malloc(sizeof(double) * n * n);
  double (*F)[n] = malloc(sizeof(double) * n * n);
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) { E[i][j] += A[i][k]*B[k][j]; F[i][j] += C[i][k]*D[k][j]; } 
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { G[i][j] = 0; for (int k = 1; k < n; k++) G[i][j] += E[i][k]*F[k][j]; }
  free(F); free(E);
}
