// different --fp ieee
#define N 10
void f(double A[N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0;; j++) {
      if (j >= i)
        break;
      if ((i + j) % 3 == 0)
        continue;
      A[i][j] /= 2;
    }
  }
}
