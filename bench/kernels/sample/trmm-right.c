#ifndef N
#define N 16
#endif

void trmm(double alpha, double A[N][N], double B[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
#pragma omp parallel for
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < N; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
  }
#pragma endscop
}
