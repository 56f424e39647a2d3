// different --fp ieee
void f(double y[8], const double x[8]) {
  double t = 3;
#pragma omp parallel for private(t)
  for (int i = 0; i < 8; i++) {
    t = x[i];
    y[i] = t;
  }
  y[0] += t;
}
