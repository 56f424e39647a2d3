#include <stdlib.h>
void k(double o[4], const double x[4])
{
  double *t = malloc(32);
  t[0] = x[0];
  o[0] = t[0];
  free(t);
}
