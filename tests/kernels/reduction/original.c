#define N 16
double f(double a[N], double b[N]) {
  double s = 0;
  for (int i = 0; i < N; i++)
    s += a[i] * b[i];
  return s;
}
