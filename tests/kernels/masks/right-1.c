// equivalent --fp ieee
#include <stdbool.h>
#define N 6
void f(double A[N], int m[N]) {
  for (int i = 0; i < N; i++) {
    bool k = m[i];
    A[i] = k ? 0.0 : A[i];
  }
}
