// equivalent --fp reassoc
double f(double y[8], const double x[8], int count[1]) {
  double s = 0;
  double m = x[0];
  int n = 0;
#pragma omp parallel for reduction(+ : s, n) reduction(max : m)
  for (int i = 0; i < 8; i++) {
    s += x[i];
    m = m < x[i] ? x[i] : m;
    n++;
  }
  count[0] = n;
  return s + m;
}
