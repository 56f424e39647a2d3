// equivalent --param n=6
#include <math.h>
typedef float real;
void k(int n, real x[n], real y[n], double z[n]) {
  int i = 0;
  do { z[i] = exp(-(double)x[i]) + pow(x[i], 2); y[i] = x[i] * (float)0.1f; } while (++i < n);
}
