#ifndef N
#define N 20
#endif

void trisolv(int n, double L[N][N], double x[N], double b[N])
{
#pragma scop
  for (int c1 = 0; c1 < N; c1 += 1) {
    x[c1] = b[c1];
    x[c1] = x[c1] / L[c1][c1];
    for (int c3 = 0; c3 < c1; c3 += 1)
      x[c1] -= L[c1][c3] * x[c3];
  }
#pragma endscop
}
