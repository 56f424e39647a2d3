void f(int n, int a[n], int r[1]) { int m = a[0]; for (int i = 1; i < n; i++) if (a[i] > m) m = a[i]; r[0] = m; }
