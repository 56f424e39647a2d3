// different --fp ieee
#define N 10
void f(double A[N], double lo, double hi) {
  for (int i = 0; i < N; i++) {
    double x = A[i];
    if (x < lo)
      x = lo;
    if (x > hi)
      x = hi;
    A[i] = x;
  }
}
