// equivalent
void f(int a[2]) {
  static int n;
  a[0] = n;
  n = n + 1;
}
