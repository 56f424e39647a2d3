/* gemm: one matrix product added to a scaled matrix. params: N=16 */
#ifndef N
#define N 16
#endif

void gemm(double alpha, double beta, double C[N][N], double A[N][N], double B[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      C[i][j] *= beta;
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
#pragma endscop
}
