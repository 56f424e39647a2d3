void clip(int n, double a[n], double lo, double hi) {
  for (int i = 0; i < n; i++) {
    if (a[i] < lo) {
      if (lo < hi) a[i] = lo;
    } else if (hi < a[i]) a[i] = hi;
  }
}
