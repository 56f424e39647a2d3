// equivalent
void f(int a[4], char c[4]) {
  a[0] = sizeof(int);
  a[1] = 5;
  a[2] = 12;
}
