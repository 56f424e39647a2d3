// different --fp ieee
#include <string.h>
#define N 6
void f(double A[N], double B[N]) {
  memcpy(A, B, sizeof(double) * (N - 1));
  memset(B, 0, N * sizeof *B);
}
