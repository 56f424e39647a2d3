/* atax: y = A^T (A x) for a matrix of M rows and N columns. params: M=14 N=18 */
#ifndef M
#define M 14
#endif
#ifndef N
#define N 18
#endif

void atax(double A[M][N], double x[N], double y[N], double tmp[M])
{
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = 0;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0.0;
    for (int j = 0; j < N; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
#pragma endscop
}
