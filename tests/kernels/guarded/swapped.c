// different --param n=4
void guarded(int n, int a[n], int b[n]) {
  for (int i = 0; i < n; i++)
    if (a[i] != 0) a[i] = b[i] / a[i];
}
