/* syr2k: lower half of C = beta*C + A*(alpha*B)^T + B*(alpha*A)^T. params: N=16 n=16 */
#ifndef N
#define N 16
#endif

void syr2k(int n, double alpha, double beta, double C[N][N], double A[N][N], double B[N][N])
{
  int i, j, k;
#pragma scop
  for (i = 0; i < n; i++) {
    for (j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (k = 0; k < n; k++)
      for (j = 0; j <= i; j++)
        C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
#pragma endscop
}
