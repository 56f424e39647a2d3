// different --fp ieee
#define N 6
void f(double *A) {
  for (int i = 0; i < N * N - 1; i++)
    A[i] += 1.0;
}
