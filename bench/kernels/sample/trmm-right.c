#ifndef N
#define N 16
#endif

void trmm(double alpha, double A[N][N], double B[N][N])
{
#pragma scop
  for (int c1 = 0; c1 < N; c1 += 1)
    for (int c3 = 0; c3 < N; c3 += 1) {
      for (int c5 = 3 * c1 + 1; c5 < N; c5 += 1)
        for (int c7 = 0; c7 <= ((2 < -3 * c1 + c5 - 1) ? (2) : (-3 * c1 + c5 - 1)); c7 += 1)
          B[3 * c1 + c7][c3] += A[c5][3 * c1 + c7] * B[c5][c3];
      B[c1][c3] = alpha * B[c1][c3];
    }
#pragma endscop
}
