// different --param n=6
void largest(int n, double a[n], double m[1], int at[1]) {
  double best = a[0];
  int where = 0;
  for (int i = 1; i < n; i++) {
    where = best <= a[i] ? i : where;
    best = best <= a[i] ? a[i] : best;
  }
  m[0] = best;
  at[0] = where;
}
