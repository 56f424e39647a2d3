// unknown unsupported --no-run
#include <stdlib.h>
void k(double o[4], const double x[4])
{
  o[0] = x[0];
  free(o);
}
