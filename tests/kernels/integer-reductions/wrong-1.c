// different race --param n=9
long sum(int n, const int a[n], int *mx) { long s = 0; int m = a[0];
#pragma omp parallel for reduction(+:s)
 for (int i = 0; i < n; i++) { s += a[i]; if (a[i] > m) m = a[i]; } *mx = m; return s; }
