// equivalent --fp ieee
#define N 6
void f(double (*A)[N]) {
  double *p = &A[0][0];
  for (int i = 0; i < N; i++) {
    double(*row)[N] = A + i;
    for (int j = 0; j < N; j++)
      (*row)[j] += 1.0;
  }
}
