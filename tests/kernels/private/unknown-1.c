// unknown race --fp ieee
#define N 10
void f(double a[N], double b[N]) {
  double last;
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    last = 1.0;
    b[i] = a[i] * a[i] + 1.0;
  }
}
