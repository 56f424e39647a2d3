// different --param n=12
void f(int n, int a[n], double b[n]) {
  for (int i = 0; i < n; i++) {
    a[i] += i % 2 ? 2 : 1;
    a[i] += i * (i - 1) / 2;
    if (i < n - 1) b[i] = b[i] + i;
    b[i] *= i < n ? 2.0 : 3.0;
    if (i % 2 == 0 && i / 2 < n / 2) a[i] -= i / 2;
    a[i] += 5;
  }
}
