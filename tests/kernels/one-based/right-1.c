// equivalent --fp ieee
#define N 10
void f(double A[N + 1][N + 1]) {
  for (int j = 1; j <= N; j++)
    for (int i = 1; i <= j; i++)
      A[i][j] = A[i - 1][j - 1] + A[j][i];
}
