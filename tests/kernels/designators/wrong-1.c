// different --fp ieee
#define N 3
void f(double a[N]) {
  static const double c[N] = {[0] = 1.5, [2] = 2.5, [1] = 3.5};
  for (int i = 0; i < N; i++)
    a[i] *= c[i];
}
