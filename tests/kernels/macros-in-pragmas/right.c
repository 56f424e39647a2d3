// equivalent
void k(double o[8], const double x[8])
{
  double t = 0, u = 0;
#define u t
#pragma omp parallel for private(u)
#undef u
  for (int i = 0; i < 8; i++) {
    t = x[i];
    o[i] = 2 * t;
  }
  (void)u;
}
