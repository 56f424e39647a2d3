#ifndef N
#define N 14
#endif

void lu(double A[N][N])
{
#pragma scop
  for (int c1 = 1; c1 < N; c1 += 1) {
    for (int c3 = -c1 + 1; c3 <= 0; c3 += 1) {
      for (int c5 = 0; c5 < -c3; c5 += 1)
        A[c1][-c3] -= A[c1][c5] * A[c5][-c3];
      A[c1][-c3] /= A[-c3][-c3];
    }
    for (int c3 = c1; c3 < N; c3 += 1)
      for (int c5 = 0; c5 < c1; c5 += 1)
        A[c1][c3] -= A[c1][c5] * A[c5][c3];
  }
#pragma endscop
}
