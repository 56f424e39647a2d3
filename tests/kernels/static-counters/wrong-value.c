// different
void f(int a[2]) {
  static int n;
  a[0] = n + 1;
  n++;
}
