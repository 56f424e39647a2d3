void shift(int n, double a[n], double b[n]) {
  for (int i = 0; i < n - 1; i++) a[i] = a[i+1];
  a[n-1] = 0.0;
  for (int i = 0; i < n; i++) b[i] += a[i];
}
