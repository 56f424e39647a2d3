static int f(int x)
{
  static unsigned calls;
  calls++;
  return x + (int)calls;
}
void k(int o[4], const int x[4])
{
  o[0] = f(x[0]) + x[1];
}
