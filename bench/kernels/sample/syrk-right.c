#ifndef N
#define N 16
#endif

void syrk(double alpha, double beta, double C[N][N], double A[N][N])
{
#pragma scop
  for (int c0 = 0; c0 < N; c0 += 1)
    for (int c1 = 0; c1 <= c0; c1 += 1) {
      C[c0][c1] *= beta;
      for (int c2 = 0; c2 < N; c2 += 1)
        C[c0][c1] += alpha * A[c0][c2] * A[c1][c2];
    }
#pragma endscop
}
