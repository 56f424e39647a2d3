// different missing-update line 3 at i=0 --param n=16
void two(int n, double a[n], double b[n], double c[n]) {
  for (int i = 0; i < n; i++) { b[i] = 2.0 * a[i]; if (i > 1) c[i-1] = b[i-1] + b[i]; }
}
