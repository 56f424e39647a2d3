// equivalent --fp reassoc
#define N 16
double f(double a[N], double b[N]) {
  double s = 0.0;
  int i;
#pragma omp parallel for private(i) reduction(+ : s)
  for (i = 0; i < N; i++)
    s += a[i] * b[i];
  return s;
}
