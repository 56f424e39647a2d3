#ifndef N
#define N 10
#endif
#ifndef L
#define L 6
#endif
#ifndef STEPS
#define STEPS 3
#endif

void reg_detect(int sum[N][N], int mean[N][N], int path[N][N], int diff[N][N][L])
{
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int j = 0; j < N; j++) {
      int width2 = L - 1 - 0 + 1;
      for (int both1 = 0; width2 > 0 && both1 < (N - 1 - j + 1) * width2; both1++)
        diff[j][j + both1 / width2][0 + both1 % width2] = sum[j][j + both1 / width2] + (0 + both1 % width2);
    }
    for (int j = 0; j < N; j++)
      for (int i = j; i < N; i++) {
        for (int c = 1; c < L; c++)
          diff[j][i][c] = diff[j][i][c - 1] - diff[j][i][c];
        mean[j][i] = diff[j][i][L - 1];
      }
    for (int i = 0; i < N; i++)
      path[0][i] = mean[0][i];
    for (int j = 1; j < N; j++)
      for (int i = j; i < N; i++)
        path[j][i] = path[j - 1][i - 1] + mean[j][i];
  }
#pragma endscop
}
