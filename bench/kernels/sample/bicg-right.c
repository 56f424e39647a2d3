#ifndef M
#define M 14
#endif
#ifndef N
#define N 18
#endif

void bicg(double A[N][M], double s[M], double q[N], double p[M], double r[N])
{
#pragma scop
  {
    for (int c1 = 0; c1 < M; c1 += 1)
      s[c1] = 0;
    for (int c3 = 0; c3 < N; c3 += 1) {
      q[c3] = 0.0;
      for (int c5 = 0; c5 < M; c5 += 1) {
        s[c5] = s[c5] + r[c3] * A[c3][c5];
        q[c3] = q[c3] + A[c3][c5] * p[c5];
      }
    }
  }
#pragma endscop
}
