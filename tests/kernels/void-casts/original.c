void f(int n, int m, double *a, double *b) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[j*n+i] = a[i*m+j]; }
