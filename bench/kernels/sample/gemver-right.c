#ifndef N
#define N 16
#endif

void gemver(double alpha, double beta, double A[N][N], double u1[N], double v1[N], double u2[N],
            double v2[N], double w[N], double x[N], double y[N], double z[N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    if (0 <= N - 1) {
      const double value1 = u1[i];
      for (int j = 0; j < N; j++)
        A[i][j] = A[i][j] + value1 * v1[j] + u2[i] * v2[j];
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x[i] = x[i] + beta * A[j][i] * y[j];
  for (int i = 0; i < N; i++)
    x[i] = x[i] + z[i];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      w[i] = w[i] + alpha * A[i][j] * x[j];
#pragma endscop
}
