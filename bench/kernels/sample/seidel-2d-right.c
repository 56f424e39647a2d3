#ifndef N
#define N 12
#endif
#ifndef STEPS
#define STEPS 4
#endif

void seidel_2d(double A[N][N])
{
#pragma scop
  for (int c1 = 0; c1 < STEPS; c1 += 1)
    for (int c3 = 1; c3 < N - 1; c3 += 1)
      for (int c5 = -c1 + 1; c5 < N - c1 - 1; c5 += 1)
        A[c3][c1 + c5] = (A[c3 - 1][c1 + c5 - 1] + A[c3 - 1][c1 + c5] + A[c3 - 1][c1 + c5 + 1] + A[c3][c1 + c5 - 1] + A[c3][c1 + c5] + A[c3][c1 + c5 + 1] + A[c3 + 1][c1 + c5 - 1] + A[c3 + 1][c1 + c5] + A[c3 + 1][c1 + c5 + 1]) / 9.0;
#pragma endscop
}
