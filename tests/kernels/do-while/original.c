#define N 9
void f(double A[N][N]) {
  for (int i = 1; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] += A[i - 1][j];
}
