#ifndef N
#define N 16
#endif

void syrk(double alpha, double beta, double C[N][N], double A[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    {
      if (0 <= i) {
        C[i][0] *= beta;
      }
      for (int j = 0; j <= i; j++)
        C[i][j] *= beta;
    }
    for (int k = 0; k < N; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += alpha * A[i][k] * A[j][k];
  }
#pragma endscop
}
