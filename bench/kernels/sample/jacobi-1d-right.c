#ifndef N
#define N 30
#endif
#ifndef STEPS
#define STEPS 6
#endif
#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))

void jacobi_1d(double A[N], double B[N])
{
#pragma scop
  for (int c1 = 0; c1 < STEPS; c1 += 1) {
    for (int c3 = 0; c3 < N / 2; c3 += 1)
      for (int c5 = max(1, 2 * c3); c5 <= min(N - 2, 2 * c3 + 1); c5 += 1)
        B[c5] = 0.33333 * (A[c5 - 1] + A[c5] + A[c5 + 1]);
    for (int c5 = 1; c5 < N - 1; c5 += 1)
      A[c5] = 0.33333 * (B[c5 - 1] + B[c5] + B[c5 + 1]);
  }
#pragma endscop
}
