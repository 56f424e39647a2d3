#ifndef N
#define N 10
#endif
#ifndef L
#define L 6
#endif
#ifndef STEPS
#define STEPS 3
#endif
#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define ceild(n, d) floord((n) + (d) - 1, d)

void reg_detect(int sum[N][N], int mean[N][N], int path[N][N], int diff[N][N][L])
{
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int j = 0; j < N; j++)
      for (int i = j; i < N; i++) {
        if (0 <= L - 1) {
          const int value2 = sum[j][i];
          for (int c = 0; c < L; c++)
            diff[j][i][c] = value2 + c;
        }
      }
    for (int j = 0; j < N; j++)
      for (int i = j; i < N; i++) {
        for (int c = 1; c < L; c++)
          diff[j][i][c] = diff[j][i][c - 1] - diff[j][i][c];
        mean[j][i] = diff[j][i][L - 1];
      }
    for (int i = 0; i < N; i++)
      path[0][i] = mean[0][i];
    for (int t1 = ceild(1 - 15, 16); t1 <= floord(N - 1, 16); t1++)
      for (int j = max(1, 16 * t1); j < min(N - 1, 16 * t1 + 15) + 1; j++)
        for (int i = j; i < N; i++)
          path[j][i] = path[j - 1][i - 1] + mean[j][i];
  }
#pragma endscop
}
