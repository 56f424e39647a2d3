// equivalent --param n=9 --fp reassoc
double dot(int n, double x[n], double y[n]) {
  double s = 0.0, r = 0.0;
  int i;
  for (i = 1; i < n; i += 2)
    r = r + y[i] * x[i];
  for (i = 0; i < n; i += 2)
    s += x[i] * y[i];
  return s + (r - 0.0);
}
