#ifndef N
#define N 16
#endif

void mvt(int n, double x1[N], double x2[N], double y1[N], double y2[N], double A[N][N])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x1[i] = x1[i] + A[i][j] * y1[j];
  for (int i = 0; i < n; i++) {
    if (0 <= n - 1) {
      double keep1 = y2[0];
      for (int j = 0; j < n; j++)
        x2[i] = x2[i] + A[j][i] * keep1;
    }
  }
#pragma endscop
}
