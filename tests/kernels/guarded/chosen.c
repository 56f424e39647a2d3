// equivalent --param n=4
void guarded(int n, int a[n], int b[n]) {
  for (int i = n - 1; i >= 0; i--)
    a[i] = b[i] == 0 ? a[i] : a[i] / b[i];
}
