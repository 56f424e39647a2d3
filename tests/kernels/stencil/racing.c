// different race --param N=12
#define N 10
void stencil(double A[N], double B[N]) {
  for (int t = 0; t < 3; t++) {
#pragma omp parallel for
    for (int i = 1; i < N; i++) {
      if (i < N - 1) B[i] = 0.33333 * (A[i-1] + A[i] + A[i+1]);
      if (i > 1) A[i-1] = B[i-1];
    }
  }
}
