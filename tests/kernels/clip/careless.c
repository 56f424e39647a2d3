// different --param n=3
void clip(int n, double a[n], double lo, double hi) {
  for (int i = 0; i < n; i++) {
    double v = a[i];
    if (v < lo) v = lo;
    else if (hi < v) v = hi;
    a[i] = v;
  }
}
