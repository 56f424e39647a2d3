/* trisolv: forward substitution; the size is an argument. params: N=20 n=20; inputs: dominant */
#ifndef N
#define N 20
#endif

void trisolv(int n, double L[N][N], double x[N], double b[N])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
#pragma endscop
}
