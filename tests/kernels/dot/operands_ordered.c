// different other-cell --param n=9 --fp ordered
double dot(int n, double x[n], double y[n]) {
  double s = 0.0;
  for (int i = 0; i < n; i++)
    s += x[i] * y[n-1-i];
  return s;
}
