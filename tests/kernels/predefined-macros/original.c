void k(int a[8])
{
#if defined __SSE2__ && __STDC_VERSION__ >= 199901L
  a[0] = 1;
#else
  a[0] = 2;
#endif
}
