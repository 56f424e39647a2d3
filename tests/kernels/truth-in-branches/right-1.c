// equivalent
void f(int a[4], double x[4]) {
  int t = a[1];
  if (a[0] > 3) t = x[0] < x[1];
  a[2] = a[0] > 3 ? a[2] : a[1];
  a[1] = t;
}
