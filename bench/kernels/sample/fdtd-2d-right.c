#ifndef N
#define N 12
#endif
#ifndef STEPS
#define STEPS 4
#endif

void fdtd_2d(double ex[N][N], double ey[N][N], double hz[N][N], double source[STEPS])
{
#pragma scop
  for (int c1 = 0; c1 < STEPS; c1 += 1) {
    for (int c3 = 1; c3 < N; c3 += 1)
      for (int c5 = 0; c5 < N; c5 += 1)
        ey[c3][c5] = ey[c3][c5] - 0.5 * (hz[c3][c5] - hz[c3 - 1][c5]);
    for (int c3 = 0; c3 < N; c3 += 1)
      ey[0][c3] = source[c1];
    for (int c3 = 0; c3 < N; c3 += 1)
      for (int c5 = 1; c5 < N; c5 += 1)
        ex[c3][c5] = ex[c3][c5] - 0.5 * (hz[c3][c5] - hz[c3][c5 - 1]);
    for (int c3 = 0; c3 < N - 1; c3 += 1)
      for (int c5 = 0; c5 < N - 1; c5 += 1)
        hz[c3][c5] = hz[c3][c5] - 0.7 * (ex[c3][c5 + 1] - ex[c3][c5] + ey[c3 + 1][c5] - ey[c3][c5]);
  }
#pragma endscop
}
