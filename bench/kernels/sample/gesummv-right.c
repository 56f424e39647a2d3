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
    if (0 <= n - 1) {
      double keep1 = y[i];
      for (int j = 0; j < n; j++) {
        tmp[i] = A[i][j] * x[j] + tmp[i];
        keep1 = B[i][j] * x[j] + keep1;
      }
      y[i] = keep1;
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
#pragma endscop
}
