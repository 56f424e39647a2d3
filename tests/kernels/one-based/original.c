#define N 10
void f(double A[N + 1][N + 1]) {
  for (int i = 1; i <= N; i++)
    for (int j = i; j <= N; j++)
      A[i][j] = A[i - 1][j - 1] + A[j][i];
}
