#ifndef M
#define M 14
#endif
#ifndef N
#define N 18
#endif

void atax(double A[M][N], double x[N], double y[N], double tmp[M])
{
#pragma scop
  for (int left1 = N - 1 - 0; left1 >= 0; left1--)
    y[N - 1 - left1] = 0;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0.0;
    for (int j = 0; j < N; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
#pragma endscop
}
