#ifndef N
#define N 12
#endif

void jacobi_2d(int steps, int n, double A[N][N], double B[N][N])
{
#pragma scop
  for (int c1 = 0; c1 < steps; c1 += 1) {
    for (int c3 = 1; c3 < N - 1; c3 += 1)
      for (int c5 = 1; c5 < N - 1; c5 += 1)
        A[c3][c5] = 0.2 * (B[c3][c5] + B[c3][c5 - 1] + B[c3][c5 + 1] + B[c3 + 1][c5] + B[c3 - 1][c5]);
    for (int c3 = 1; c3 < N - 1; c3 += 1)
      for (int c5 = 1; c5 < N - 1; c5 += 1)
        B[c3][c5] = 0.2 * (A[c3][c5] + A[c3][c5 - 1] + A[c3][c5 + 1] + A[c3 + 1][c5] + A[c3 - 1][c5]);
  }
#pragma endscop
}
