#ifndef N
#define N 6
#endif

void tensor(double T[N][N][N][N], double M[N][N], double R[N][N])
{
  double part[N];
#pragma scop
  for (int c1 = 0; c1 < N; c1 += 1)
    for (int c3 = 0; c3 < N; c3 += 1) {
      for (int c5 = 0; c5 < N; c5 += 1) {
        part[c5] = 0.0;
        for (int c7 = c1; c7 < N + c1; c7 += 1)
          part[c5] += T[c1][c3][c5][-c1 + c7] * M[c5][-c1 + c7];
      }
      R[c1][c3] = part[0];
      for (int c5 = 1; c5 < N; c5 += 1)
        R[c1][c3] = R[c1][c3] + part[c5];
    }
#pragma endscop
}
