/* gemm-flat: product of matrices that are flat pointers. params: N=12 */
#ifndef N
#define N 12
#endif

void gemm_flat(double *C, const double *A, const double *B)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i * N + j] = 0.0;
      for (int k = 0; k < N; k++)
        C[i * N + j] += A[i * N + k] * B[k * N + j];
    }
#pragma endscop
}
