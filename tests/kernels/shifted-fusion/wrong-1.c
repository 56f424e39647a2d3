// different flow line 3 at i=0 --param n=16
void two(int n, double a[n], double b[n], double c[n]) {
  for (int i = 0; i < n - 1; i++) { b[i] = 2.0 * a[i]; c[i] = b[i] + b[i+1]; }
  b[n-1] = 2.0 * a[n-1];
}
