#ifndef M
#define M 12
#endif
#ifndef N
#define N 14
#endif

void covariance(double count, double data[N][M], double cov[M][M], double mean[M])
{
#pragma scop
  for (int j = 0; j < M; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] /= count;
  }
  {
    int width2 = M - 1 - 0 + 1;
    for (int both1 = 0; width2 > 0 && both1 < (N - 1 - 0 + 1) * width2; both1++)
      data[0 + both1 / width2][0 + both1 % width2] -= mean[0 + both1 % width2];
  }
  for (int i = 0; i < M; i++)
    for (int j = i; j < M; j++) {
      cov[i][j] = 0.0;
      for (int k = 0; k < N; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= count - 1.0;
      cov[j][i] = cov[i][j];
    }
#pragma endscop
}
