#ifndef N
#define N 16
#endif

void mvt(int n, double x1[N], double x2[N], double y1[N], double y2[N], double A[N][N])
{
#pragma scop
  for (int c1 = 0; c1 < N; c1 += 1) {
    for (int c3 = 0; c3 < N; c3 += 1)
      x1[c1] = x1[c1] + A[c1][c3] * y1[c3];
    for (int c3 = 0; c3 < N; c3 += 1)
      x2[c1] = x2[c1] + A[c3][c1] * y2[c3];
  }
#pragma endscop
}
