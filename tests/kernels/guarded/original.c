void guarded(int n, int a[n], int b[n]) {
  for (int i = 0; i < n; i++)
    if (b[i] != 0) a[i] = a[i] / b[i];
}
