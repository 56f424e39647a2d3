#ifndef N
#define N 16
#endif

void symm(double alpha, double beta, double C[N][N], double A[N][N], double B[N][N])
{
  double acc;
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      acc = 0.0;
      {
        int k = 0;
        while (k <= i - 1) {
          C[k][j] += alpha * B[i][j] * A[i][k];
          acc += B[k][j] * A[i][k];
          k += 1;
        }
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * acc;
    }
#pragma endscop
}
