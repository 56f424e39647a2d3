#define N 10
void f(double A[N], double lo, double hi) {
  for (int i = 0; i < N; i++) {
    if (A[i] < lo)
      A[i] = lo;
    else if (A[i] > hi)
      A[i] = hi;
  }
}
