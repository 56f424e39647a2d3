// different missing-update line 2 at i=8 --param n=10
#include <string.h>
void shift(int n, double a[n], double b[n]) {
  memmove(a, a + 1, (n - 2) * sizeof(double));
  a[n-1] = 0;
  for (int i = n; i-- > 0;) b[i] += a[i];
}
