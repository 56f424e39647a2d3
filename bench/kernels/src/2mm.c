/* 2mm: two chained products, D = beta*D + (alpha*A*B)*C. params: N=16 */
#ifndef N
#define N 16
#endif

void two_products(double alpha, double beta, double tmp[N][N], double A[N][N], double B[N][N],
                  double C[N][N], double D[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      tmp[i][j] = 0.0;
      for (int k = 0; k < N; k++)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < N; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }
#pragma endscop
}
