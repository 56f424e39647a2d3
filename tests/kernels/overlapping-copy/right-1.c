// equivalent --param n=8
#include <string.h>
void f(int n, double a[n]) {
  memmove(a, a + 1, (n - 1) * sizeof(double));
}
