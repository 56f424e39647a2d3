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
  double Q_copy1[M][N];
  for (int Q_copy1_0 = 0; Q_copy1_0 < M; Q_copy1_0++)
    for (int Q_copy1_1 = 0; Q_copy1_1 < N; Q_copy1_1++)
      Q_copy1[Q_copy1_0][Q_copy1_1] = Q[Q_copy1_0][Q_copy1_1];
  for (int k = 0; k < N; k++) {
    norm = 0.0;
    for (int i = 0; i < M; i++)
      norm += A[i][k] * A[i][k];
    R[k][k] = sqrt(norm);
    for (int i = 0; i < M; i++)
      Q_copy1[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < N; j++) {
      R[k][j] = 0.0;
      for (int i = 0; i < M; i++)
        R[k][j] += Q_copy1[i][k] * A[i][j];
      for (int i = 0; i < M; i++)
        A[i][j] = A[i][j] - Q_copy1[i][k] * R[k][j];
    }
  }
  for (int Q_copy1_0 = 0; Q_copy1_0 < M; Q_copy1_0++)
    for (int Q_copy1_1 = 0; Q_copy1_1 < N; Q_copy1_1++)
      Q[Q_copy1_0][Q_copy1_1] = Q_copy1[Q_copy1_0][Q_copy1_1];
#pragma endscop
}
