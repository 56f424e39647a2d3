// equivalent --fp ieee
#define N 9
void f(double A[N][N]) {
  int j = 0;
  do {
    int i = 1;
    while (1) {
      if (i >= N)
        break;
      A[i][j] = A[i][j] + A[i - 1][j];
      ++i;
    }
    j++;
  } while (j < N);
}
