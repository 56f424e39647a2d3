void f(int n, int a[n], double b[n]) {
  int x = 1, y = 2, s = 0, c = 5, m = n;
  int *q = &m, *p = a;
  unsigned u = 4294967290u;
  for (int i = 0; i < n; i++) { a[i] += x; int t = x; x = y; y = t; }
  for (int i = 0; i < n; i++) { a[i] += s; s += i; }
  for (int i = 0; i < *q; i++) { b[i] = b[i] + i; if (i == 3) *q = n - 1; }
  for (int i = 0; i < n; i++) { b[i] *= u > 10 ? 2.0 : 3.0; u++; }
  for (int i = 0; i < n / 2; i++) { *p -= i; p += 2; }
  for (int i = 0; i < n; i++) { a[i] += c; c = a[i]; c = 5; }
}
