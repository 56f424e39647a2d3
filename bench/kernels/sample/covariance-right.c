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
      mean[j] = mean[j] + data[i][j];
    mean[j] = mean[j] / count;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      data[i][j] = data[i][j] - mean[j];
  for (int i = 0; i < M; i++)
    for (int j = i; j < M; j++) {
      cov[i][j] = 0.0;
      for (int k = 0; k < N; k++)
        cov[i][j] = cov[i][j] + data[k][i] * data[k][j];
      cov[i][j] = cov[i][j] / (count - 1.0);
      cov[j][i] = cov[i][j];
    }
#pragma endscop
}
