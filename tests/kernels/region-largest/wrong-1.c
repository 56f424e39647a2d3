// different --param n=6
void f(int n, int a[n], int r[1]) { int m = a[0];
#pragma omp parallel for
 for (int i = 1; i < n; i++) m = m > a[i] ? m : a[i]; r[0] = m; }
