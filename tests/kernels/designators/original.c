#define N 3
void f(double a[N]) {
  a[0] *= 1.5;
  a[1] *= 2.5;
  a[2] *= 3.5;
}
