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
        if (0 <= N - 1) {
          double keep1 = sum[p];
          for (int s = 0; s < N; s++)
            keep1 += A[r][q][s] * C4[s][p];
          sum[p] = keep1;
        }
      }
      for (int p = 0; p < N; p++)
        A[r][q][p] = sum[p];
    }
#pragma endscop
}
