// equivalent --param n=10
#include <string.h>
#include <stdlib.h>
void shift(int n, double a[n], double b[n]) {
  double *t = calloc(n, sizeof *t);
  memmove(a, a + 1, (n - 1) * sizeof(double));
  a[n-1] = t[0];
  memcpy(t, a, n * sizeof(a[0]));
  for (int i = n; i-- > 0;) b[i] += t[i];
  free(t);
}
