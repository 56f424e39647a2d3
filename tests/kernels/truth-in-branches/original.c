void f(int a[4], double x[4]) {
  if (a[0] > 3) a[1] = x[0] < x[1];
  else a[2] = a[1];
}
