#ifndef N
#define N 30
#endif
#ifndef STEPS
#define STEPS 6
#endif

void jacobi_1d(double A[N], double B[N])
{
#pragma scop
  for (int c0 = 0; c0 < STEPS; c0 += 1) {
    for (int c1 = 1; c1 < N - 1; c1 += 1)
      B[c1] = 0.33333 * (A[c1 - 1] + A[c1] + A[c1 + 1]);
    for (int c1 = 1; c1 < N - 1; c1 += 1)
      A[c1] = 0.33333 * (B[c1 - 1] + B[c1] + B[c1 + 1]);
  }
#pragma endscop
}
