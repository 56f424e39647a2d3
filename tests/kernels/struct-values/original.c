#define N 5
void f(double a[N], double b[N], double c[N], double d[N]) {
  for (int i = 0; i < N; i++) {
    double t = a[i] * c[i] - b[i] * d[i];
    b[i] = a[i] * d[i] + b[i] * c[i];
    a[i] = t;
  }
}
