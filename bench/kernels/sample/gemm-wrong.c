#ifndef N
#define N 16
#endif

void gemm(double alpha, double beta, double C[N][N], double A[N][N], double B[N][N])
{
#pragma scop
  for (int c1 = 0; c1 < N; c1 += 1)
    for (int c3 = 0; c3 < N; c3 += 1) {
      C[c1][c3] *= beta;
      for (int c5 = 0; c5 < N; c5 += 1)
        C[c1][c5] += alpha * A[c1][c3] * B[c3][c5];
    }
#pragma endscop
}
