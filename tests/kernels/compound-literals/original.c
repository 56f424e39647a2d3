#define N 3
struct p {
  double x, y;
};
void f(double a[N], double b[N]) {
  for (int i = 0; i < N; i++) {
    double t = a[i];
    a[i] = b[i];
    b[i] = t;
  }
}
