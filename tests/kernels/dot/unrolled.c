// equivalent --param n=9
double dot(int n, double x[n], double y[n]) {
  double s = 0.0;
  int i;
  for (i = 0; i + 2 <= n; i += 2) {
    s += y[i] * x[i];
    s += x[i+1] * y[i+1];
  }
  for (; i < n; i++)
    s += x[i] * y[i];
  return s;
}
