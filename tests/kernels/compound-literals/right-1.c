// equivalent --fp ieee
#define N 3
struct p {
  double x, y;
};
void f(double a[N], double b[N]) {
  for (int i = 0; i < N; i++) {
    struct p q = (struct p){a[i], b[i]};
    a[i] = q.y;
    b[i] = q.x;
  }
}
