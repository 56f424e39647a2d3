typedef struct { double a, b; int shift; } coef_t;
void k(int n, double x[n], double y[n], coef_t c) {
  for (int i = 1; i < n - 1; i++) y[i] = c.a * x[i-1] + c.b * x[i+1];
}
