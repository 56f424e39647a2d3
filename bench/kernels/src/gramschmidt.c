/* gramschmidt: QR factors by the modified Gram-Schmidt process. params: M=14 N=12 */
#include <math.h>
#ifndef M
#define M 14
#endif
#ifndef N
#define N 12
#endif

void gramschmidt(double A[M][N], double R[N][N], double Q[M][N])
{
  double norm;
#pragma scop
  for (int k = 0; k < N; k++) {
    norm = 0.0;
    for (int i = 0; i < M; i++)
      norm += A[i][k] * A[i][k];
    R[k][k] = sqrt(norm);
    for (int i = 0; i < M; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < N; j++) {
      R[k][j] = 0.0;
      for (int i = 0; i < M; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < M; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
#pragma endscop
}
