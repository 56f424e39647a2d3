double fabs(double);
void k(double o[4], const double x[4])
{
  o[0] = fabs(x[0]);
}
