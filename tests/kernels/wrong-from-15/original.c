void s(int n, double a[n], double b[n]) { for (int i = 0; i < n; i++) b[i] = a[i] * a[i]; }
