void f(int n, double a[n]) {
  for (int i = 0; i < n - 1; i++) a[i] = a[i + 1];
}
