#ifndef N
#define N 16
#endif

void gesummv(int n, double alpha, double beta, double A[N][N], double B[N][N], double tmp[N],
             double x[N], double y[N])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    tmp[i] = 0.0;
    y[i] = 0.0;
    for (int j = 0; j < n; j++) {
      tmp[i] = A[i][j] * x[j] + x[i];
      y[i] = B[i][j] * x[j] + y[i];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
#pragma endscop
}
