// equivalent --fp ieee
#define N 6
#define SWAP(T, x, y)                                                                                        \
  do {                                                                                                       \
    T t_ = (x);                                                                                              \
    (x) = (y);                                                                                               \
    (y) = t_;                                                                                                \
  } while (0)
void f(double a[N]) {
  double *lo = a, *hi = a + N - 1;
  while (lo < hi) {
    SWAP(double, *lo, *hi);
    lo++;
    hi--;
  }
}
