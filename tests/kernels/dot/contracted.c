// equivalent --param n=9 --fp contract
#include <math.h>
double dot(int n, double x[n], double y[n]) {
  double s = 0.0;
  for (int i = 0; i < n; i++)
    s = fma(x[i], y[i], s);
  return s;
}
