#include <string.h>
#define N 6
void f(double A[N], double B[N]) {
  for (int i = 0; i < N; i++)
    A[i] = B[i];
  for (int i = 0; i < N; i++)
    B[i] = 0;
}
