#define N 24
void f(float A[N][N], float x[N], float y[N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      y[i] += A[i][j] * x[j];
}
