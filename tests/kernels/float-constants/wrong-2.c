// different computation line 3 at i=0 --param n=6
#include <math.h>
void k(int n, float x[n], float y[n], double z[n]) {
  for (int i = 0; i < n; i++) { y[i] = 0.1f * x[i]; z[i] = pow((double)x[i], 2.0) + expf(-x[i]); }
}
