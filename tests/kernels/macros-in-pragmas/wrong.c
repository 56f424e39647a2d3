// different race
void k(double o[8], const double x[8])
{
  double t = 0, u = 0;
#define t u
#pragma omp parallel for private(t)
#undef t
  for (int i = 0; i < 8; i++) {
    t = x[i];
    o[i] = 2 * t;
  }
  (void)u;
}
