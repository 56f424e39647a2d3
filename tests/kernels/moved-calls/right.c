// equivalent --fp ieee
static double square(double v) { return v * v; }
static double pull(double a, double b) {
  double d = square(b - a) + square(b + a) + 0.01;
  return a / d;
}
void f(double x[6], double y[6], double s[6]) {
  for (int i = 5; i >= 0; i--)
    y[i] = pull(x[i], x[5 - i]);
  for (int i = 1; i < 6; i++)
    s[i] = s[i - 1] + y[i];
}
