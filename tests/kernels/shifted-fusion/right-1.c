// equivalent --param n=16
void two(int n, double a[n], double b[n], double c[n]) {
  b[0] = a[0] * 2;
  for (int i = 1; i < n; i++) { b[i] = a[i] + a[i]; c[i-1] = b[i-1] + b[i]; }
}
