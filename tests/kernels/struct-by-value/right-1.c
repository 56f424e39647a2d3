// equivalent --param n=12
typedef struct { double a, b; int shift; } coef_t;
static inline double f(const coef_t *c, double l, double r) { return c->a * l + c->b * r; }
void k(int n, double x[n], double y[n], coef_t c) {
  int i;
  for (i = n - 2; i > 0; i--) y[i] = f(&c, x[i-1], x[i+1]);
}
