#include <math.h>
#ifndef N
#define N 14
#endif

void cholesky(double A[N][N])
{
#pragma scop
  for (int c0 = 0; c0 < N; c0 += 1) {
    for (int c1 = 0; c1 < c0; c1 += 1) {
      for (int c2 = 0; c2 < c1; c2 += 1)
        A[c0][c1] -= A[c0][c2] * A[c1][c2];
      A[c0][c1] /= A[c1][c1];
    }
    for (int c2 = 0; c2 < c0; c2 += 1)
      A[c0][c0] -= A[c0][c2] * A[c0][c2];
    A[c0][c0] = sqrt(A[c0][c0]);
  }
#pragma endscop
}
