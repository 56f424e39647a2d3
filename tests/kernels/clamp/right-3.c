// equivalent --fp ieee
#define N 10
void f(double A[N], double lo, double hi) {
  for (int i = N; i-- > 0;) {
    double x = A[i];
    if (!(x < lo)) {
      if (x > hi)
        x = hi;
    } else
      x = lo;
    A[i] = x;
  }
}
