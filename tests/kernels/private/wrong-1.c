// different --fp ieee
#define N 10
void f(double a[N], double b[N]) {
  double t;
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    t = a[i] * a[i];
    b[i] = t + 1.0;
  }
}
