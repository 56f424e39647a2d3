// equivalent --no-run
#include <stdlib.h>
void k(double o[4], const double x[4])
{
  double *t = malloc(64);
  t[1] = x[0];
  o[0] = t[1];
  free(t);
}
