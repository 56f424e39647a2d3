#ifndef N
#define N 12
#endif
#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define ceild(n, d) floord((n) + (d) - 1, d)

void jacobi_2d(int steps, int n, double A[N][N], double B[N][N])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    {
      int lbp2 = floord(1, 8);
      int ubp3 = floord(n - 2, 8);
      for (int t1 = lbp2; t1 <= ubp3; t1++)
        for (int i = max(1, 8 * t1); i < min(n - 2, 8 * t1 + 7) + 1; i++)
          for (int j = 1; j < n - 1; j++)
            B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
  }
#pragma endscop
}
