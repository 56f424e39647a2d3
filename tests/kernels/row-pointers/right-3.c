// equivalent --fp ieee
#define N 6
void f(double A[N][N]) {
  double *p = (double *)A;
  for (int i = 0; i < N * N; i++)
    *(p + i) += 1.0;
}
