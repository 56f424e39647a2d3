#include <math.h>
#ifndef N
#define N 14
#endif

void cholesky(double A[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    if (0 <= i - 1) {
      double *row1 = A[i];
      for (int k = 0; k < i; k++)
        row1[i] -= row1[k] * row1[k];
    }
    A[i][i] = sqrt(A[i][i]);
  }
#pragma endscop
}
