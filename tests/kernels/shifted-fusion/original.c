void two(int n, double a[n], double b[n], double c[n]) {
  for (int i = 0; i < n; i++) b[i] = 2.0 * a[i];
  for (int i = 0; i < n - 1; i++) c[i] = b[i] + b[i+1];
}
