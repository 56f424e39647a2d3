// equivalent --fp ieee
void f(double y[8], const double x[8]) {
  int k = 0;
#pragma omp parallel for private(k)
  for (int i = 0; i < 8; i++) {
    k = i;
    y[i] = x[k];
  }
}
