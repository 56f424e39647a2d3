void largest(int n, double a[n], double m[1], int at[1]) {
  m[0] = a[0];
  at[0] = 0;
  for (int i = 1; i < n; i++)
    if (a[i] > m[0]) {
      m[0] = a[i];
      at[0] = i;
    }
}
