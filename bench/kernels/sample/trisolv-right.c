#ifndef N
#define N 20
#endif

void trisolv(int n, double L[N][N], double x[N], double b[N])
{
#pragma scop
  {
    {
      if (-N + 1 <= 0) {
        x[-(-N + 1)] = b[-(-N + 1)];
      }
      for (int c1 = -N + 2; c1 < 1; c1++)
        x[-c1] = b[-c1];
    }
    for (int c1 = 0; c1 < N; c1 += 1) {
      for (int c3 = 0; c3 < c1; c3 += 1)
        x[c1] -= L[c1][c3] * x[c3];
      x[c1] = x[c1] / L[c1][c1];
    }
  }
#pragma endscop
}
