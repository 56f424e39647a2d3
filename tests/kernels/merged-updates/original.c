void f(double a[8], const double b[8]) {
  for (int i = 0; i < 8; i += 2) {
    a[i] -= b[i];
    a[i] *= 2.0;
    a[i + 1] = a[i];
  }
}
