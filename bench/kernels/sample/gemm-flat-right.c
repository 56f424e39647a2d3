#ifndef N
#define N 12
#endif

void gemm_flat(double *C, const double *A, const double *B)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i * N + j] = 0.0;
      {
        if (0 <= N - 1) {
          C[i * N + j] += A[i * N + 0] * B[0 * N + j];
        }
        for (int k = 1; k < N; k++)
          C[i * N + j] += A[i * N + k] * B[k * N + j];
      }
    }
#pragma endscop
}
