// equivalent --param n=6
void largest(int n, double a[n], double m[1], int at[1]) {
  double best = a[0];
  int where = 0;
  for (int i = 1; i < n; i++) {
    int better = best < a[i];
    where = better ? i : where;
    best = !better ? best : a[i];
  }
  m[0] = best;
  at[0] = where;
}
