#ifndef N
#define N 12
#endif
#ifndef STEPS
#define STEPS 4
#endif

void fdtd_2d(double ex[N][N], double ey[N][N], double hz[N][N], double source[STEPS])
{
#pragma scop
  for (int c0 = 0; c0 < STEPS; c0 += 1) {
    for (int c1 = 0; c1 < N; c1 += 1)
      ey[0][c1] = source[c0];
    for (int c1 = 0; c1 < N; c1 += 1)
      for (int c2 = 1; c2 < N; c2 += 1)
        ex[c1][c2] = ex[c1][c2] - 0.5 * (hz[c1][c2] - hz[c1][c2 - 1]);
    for (int c1 = 1; c1 < N; c1 += 1)
      for (int c2 = 0; c2 < N; c2 += 1)
        ey[c1][c2] = ey[c1][c2] - 0.5 * (hz[c1][c2] - hz[c1 - 1][c2]);
    for (int c1 = 0; c1 < N - 1; c1 += 1)
      for (int c2 = 0; c2 < N - 1; c2 += 1)
        hz[c1][c2] = hz[c1][c2] - 0.7 * (ex[c1][c2 + 1] - ex[c1][c2] + ey[c1 + 1][c2] - ey[c1][c2]);
  }
#pragma endscop
}
