#ifndef N
#define N 12
#endif

void ludcmp(double A[N][N], double b[N], double x[N], double y[N])
{
  double w;
#pragma scop
  double A_copy1[N][N];
  for (int A_copy1_0 = 0; A_copy1_0 < N; A_copy1_0++)
    for (int A_copy1_1 = 0; A_copy1_1 < N; A_copy1_1++)
      A_copy1[A_copy1_0][A_copy1_1] = A[A_copy1_0][A_copy1_1];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      w = A_copy1[i][j];
      for (int k = 0; k < j; k++)
        w -= A_copy1[i][k] * A_copy1[k][j];
      A_copy1[i][j] = w / A_copy1[j][j];
    }
    for (int j = i; j < N; j++) {
      w = A_copy1[i][j];
      for (int k = 0; k < i; k++)
        w -= A_copy1[i][k] * A_copy1[k][j];
      A_copy1[i][j] = w;
    }
  }
  for (int i = 0; i < N; i++) {
    w = b[i];
    for (int j = 0; j < i; j++)
      w -= A_copy1[i][j] * y[j];
    y[i] = w;
  }
  for (int i = N - 1; i >= 0; i--) {
    w = y[i];
    for (int j = i + 1; j < N; j++)
      w -= A_copy1[i][j] * x[j];
    x[i] = w / A_copy1[i][i];
  }
  for (int A_copy1_0 = 0; A_copy1_0 < N; A_copy1_0++)
    for (int A_copy1_1 = 0; A_copy1_1 < N; A_copy1_1++)
      A[A_copy1_0][A_copy1_1] = A_copy1[A_copy1_0][A_copy1_1];
#pragma endscop
}
