// different undefined --param n=4
void guarded(int n, int a[n], int b[n]) {
  for (int i = 0; i < n; i++) {
    int q = a[i] / b[i];
    if (b[i] != 0) a[i] = q;
  }
}
