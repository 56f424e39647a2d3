// different race --fp ieee
void f(double y[8], const double x[8]) {
  int k = 0;
#pragma omp parallel for
  for (int i = 0; i < 8; i++) {
    y[i] = x[k];
    k++;
  }
}
