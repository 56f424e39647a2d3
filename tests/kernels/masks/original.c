#include <stdbool.h>
#define N 6
void f(double A[N], int m[N]) {
  for (int i = 0; i < N; i++) {
    if (m[i])
      A[i] = 0.0;
  }
}
