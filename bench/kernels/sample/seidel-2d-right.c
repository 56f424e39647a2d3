#ifndef N
#define N 12
#endif
#ifndef STEPS
#define STEPS 4
#endif

void seidel_2d(double A[N][N])
{
#pragma scop
  for (int ts1 = -1; ts1 < STEPS - 1; ts1++)
    for (int i = 1; i <= N - 2; i++)
      for (int j = 1; j <= N - 2; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
#pragma endscop
}
