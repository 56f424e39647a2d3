// equivalent --param n=8
void f(int n, double a[n], int r[1]) {
  int i;
#pragma omp parallel for
  for (i = 0; i < n; i++) a[i] = 1.0;
  r[0] = n;
}
