void f(int a[4], char c[4]) {
  a[0] = sizeof(c[0] + c[1]);
  a[1] = sizeof((char)a[2]) + sizeof(1.0f * a[2]);
  a[2] = sizeof(a[3] < c[0]) + sizeof(-1l);
}
