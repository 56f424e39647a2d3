#ifndef N
#define N 12
#endif
#ifndef STEPS
#define STEPS 4
#endif

void fdtd_2d(double ex[N][N], double ey[N][N], double hz[N][N], double source[STEPS])
{
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int j = 0; j < N; j++)
      ey[0][j] = source[t];
    for (int i = 1; i < N; i++)
      for (int j = 0; j < N; j++)
        ey[i][j] = ((float) ey[i][j]) - 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < N; i++)
      for (int j = 1; j < N; j++)
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < N - 1; i++)
      for (int j = 0; j < N - 1; j++)
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
#pragma endscop
}
