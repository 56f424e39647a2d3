// different --fp ieee
#define N 6
void f(double a[N]) {
  for (int i = 0; i < N / 2; i++) {
    a[i] = a[N - 1 - i];
    a[N - 1 - i] = a[i];
  }
}
