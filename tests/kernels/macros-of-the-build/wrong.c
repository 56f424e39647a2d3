// unknown unsupported
void k(int a[8])
{
#ifdef __OPTIMIZE__
  a[0] = 1;
#else
  a[0] = 2;
#endif
}
