// different --no-run
static int f(int x)
{
  static unsigned calls;
  calls++;
  return x + (int)calls;
}
void k(int o[4], const int x[4])
{
  int first = f(x[1]);
  o[0] = first + x[2];
}
