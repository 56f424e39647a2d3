#ifndef N
#define N 8
#endif
#ifndef STEPS
#define STEPS 3
#endif
#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define ceild(n, d) floord((n) + (d) - 1, d)

void heat_3d(double A[N][N][N], double B[N][N][N])
{
#pragma scop
  for (int t = 1; t <= STEPS; t++) {
    for (int i = 1; i < N - 1; i++) {
      int lbp2 = floord(1, 8);
      int ubp3 = floord(N - 2, 8);
      for (int t1 = lbp2; t1 <= ubp3; t1++)
        for (int j = max(1, 8 * t1); j < min(N - 2, 8 * t1 + 7) + 1; j++)
          for (int k = 1; k < N - 1; k++)
            B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) + 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) + 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
    }
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
          A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k]) + 0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k]) + 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
  }
#pragma endscop
}
