// different --fp ieee
#define N 9
void f(double A[N][N]) {
  int j = 0;
  do {
    int i = N - 1;
    while (1) {
      if (i < 1)
        break;
      A[i][j] = A[i][j] + A[i - 1][j];
      --i;
    }
    j++;
  } while (j < N);
}
