// equivalent --fp ieee
#define N 6
void f(double *A) {
  for (int i = 0; i < N * N; i++)
    A[i] += 1.0;
}
