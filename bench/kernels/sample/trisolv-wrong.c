#ifndef N
#define N 20
#endif
#define S0(i) x[(i)] = b[(i)]
#define S1(i, j) x[(i)] -= L[(i)][(j)] * x[(j)]
#define S2(i) x[(i)] = x[(i)] / L[(i)][(i)]

void trisolv(int n, double L[N][N], double x[N], double b[N])
{
#pragma scop
  for (int c1 = 0; c1 < N; c1 += 1) {
    S0(c1);
    for (int c3 = c1 + 1; c3 < N; c3 += 1)
      S1(c3, c1);
    S2(c1);
  }
#pragma endscop
}
