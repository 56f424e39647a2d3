#ifndef N
#define N 8
#endif
#ifndef STEPS
#define STEPS 3
#endif

void heat_3d(double A[N][N][N], double B[N][N][N])
{
#pragma scop
  for (int c1 = 1; c1 <= STEPS; c1 += 1) {
    for (int c3 = 1; c3 < N - 1; c3 += 1)
      for (int c5 = 1; c5 < N - 1; c5 += 1)
        for (int c7 = 1; c7 < N - 1; c7 += 1)
          B[c3][c5][c7] = 0.125 * (A[c3 + 1][c5][c7] - 2.0 * A[c3][c5][c7] + A[c3 - 1][c5][c7]) + 0.125 * (A[c3][c5 + 1][c7] - 2.0 * A[c3][c5][c7] + A[c3][c5 - 1][c7]) + 0.125 * (A[c3][c5][c7 + 1] - 2.0 * A[c3][c5][c7] + A[c3][c5][c7 - 1]) + A[c3][c5][c7];
    for (int c3 = 1; c3 < N - 1; c3 += 1)
      for (int c5 = 2; c5 < N; c5 += 1)
        for (int c7 = 1; c7 < N - 1; c7 += 1)
          A[c3][c5 - 1][c7] = 0.125 * (B[c3 + 1][c5 - 1][c7] - 2.0 * B[c3][c5 - 1][c7] + B[c3 - 1][c5 - 1][c7]) + 0.125 * (B[c3][c5 - 1 + 1][c7] - 2.0 * B[c3][c5 - 1][c7] + B[c3][c5 - 1 - 1][c7]) + 0.125 * (B[c3][c5 - 1][c7 + 1] - 2.0 * B[c3][c5 - 1][c7] + B[c3][c5 - 1][c7 - 1]) + B[c3][c5 - 1][c7];
  }
#pragma endscop
}
