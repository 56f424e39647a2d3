// unknown no-invariant
void f(int a[2]) {
  static int n;
  a[0] = n;
  n += 2;
}
