#ifndef N
#define N 16
#endif

void gesummv(int n, double alpha, double beta, double A[N][N], double B[N][N], double tmp[N],
             double x[N], double y[N])
{
#pragma scop
  {
    for (int c1 = 0; c1 < N; c1 += 1) {
      tmp[c1] = 0.0;
      y[c1] = 0.0;
      for (int c3 = 0; c3 < N; c3 += 1) {
        tmp[c1] = A[c1][c3] * x[c3] + tmp[c1];
        y[c1] = B[c1][c3] * x[c3] + y[c1];
      }
    }
    for (int c1 = 0; c1 < N; c1 += 1)
      y[c1] = alpha * tmp[c1] + beta * y[c1];
  }
#pragma endscop
}
