/* doitgen: a matrix applied to the last axis of a cube, in place. params: N=8 */
#ifndef N
#define N 8
#endif

void doitgen(double A[N][N][N], double C4[N][N], double sum[N])
{
#pragma scop
  for (int r = 0; r < N; r++)
    for (int q = 0; q < N; q++) {
      for (int p = 0; p < N; p++) {
        sum[p] = 0.0;
        for (int s = 0; s < N; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < N; p++)
        A[r][q][p] = sum[p];
    }
#pragma endscop
}
