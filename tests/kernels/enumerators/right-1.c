// equivalent --fp ieee
enum size { N = 8, M = 4 };
static const double w[] = {0.25, 0.5, 0.25};
void f(double a[N], double b[M]) {
  b[0] = 0.0;
  b[0] += w[1] * a[0];
  b[0] += w[2] * a[1];
  for (int i = 1; i < M; i++) {
    double s = 0.0;
    s += w[0] * a[2 * i - 1];
    s += w[1] * a[2 * i];
    s += w[2] * a[2 * i + 1];
    b[i] = s;
  }
}
