#ifndef N
#define N 12
#endif
#define S0(i, j) C[(i) * N + (j)] = 0.0
#define S1(i, j, k) C[(i) * N + (j)] += A[(i) * N + (k)] * B[(k) * N + (j)]

void gemm_flat(double *C, const double *A, const double *B)
{
#pragma scop
  for (int c1 = 0; c1 <= 11; c1 += 1)
    for (int c3 = 0; c3 <= 11; c3 += 1) {
      S0(c1, c3);
      for (int c5 = -c3; c5 <= -c3 + 11; c5 += 1)
        S1(c1, c3, c3 + c5);
    }
#pragma endscop
}
