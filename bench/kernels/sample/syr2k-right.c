#ifndef N
#define N 16
#endif

void syr2k(int n, double alpha, double beta, double C[N][N], double A[N][N], double B[N][N])
{
#pragma scop
  for (int c1 = -1; c1 < N - 1; c1 += 1) {
    for (int c3 = 0; c3 <= c1 + 1; c3 += 1)
      C[c1 + 1][c3] *= beta;
    for (int c3 = 0; c3 < N; c3 += 1)
      for (int c5 = 0; c5 <= c1 + 1; c5 += 1)
        C[c1 + 1][c5] += A[c5][c3] * alpha * B[c1 + 1][c3] + B[c5][c3] * alpha * A[c1 + 1][c3];
  }
#pragma endscop
}
