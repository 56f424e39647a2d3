// different --fp ieee
#define N 8
void f(double A[N][N]) {
  double t[N];
  for (int i = 0; i < N; i++) {
    for (int j = 1; j < N; j++)
      t[j] = A[i][j] * 2.0 + i - j;
    for (int j = 0; j < N; j++)
      A[i][j] = t[j];
  }
}
