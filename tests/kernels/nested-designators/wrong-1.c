// different --fp ieee
struct pt { double x, y; };
struct w { struct pt p[2]; int k; };
void f(double o[4], double a, double b) {
  struct w v = { .p[0].x = a, .p[0].y = b, .p[1] = { .y = 3 } };
  double *q = (double[4]){ v.p[0].x, v.p[0].y, v.p[1].x, v.p[1].y };
  for (int i = 0; i < 4; i++) o[i] = q[i];
}
