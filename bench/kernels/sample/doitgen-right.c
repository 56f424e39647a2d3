#ifndef N
#define N 8
#endif

void doitgen(double A[N][N][N], double C4[N][N], double sum[N])
{
#pragma scop
  for (int c1 = 0; c1 < N; c1 += 1)
    for (int c3 = 0; c3 < N; c3 += 1) {
      for (int c5 = 0; c5 < N; c5 += 1)
        sum[c5] = 0.0;
      for (int c5 = 0; c5 < N; c5 += 1)
        for (int c7 = 0; c7 < N; c7 += 1)
          sum[c5] += A[c1][c3][c7] * C4[c7][c5];
      for (int c5 = 0; c5 < N; c5 += 1)
        A[c1][c3][c5] = sum[c5];
    }
#pragma endscop
}
