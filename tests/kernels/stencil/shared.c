// different race --param N=12
#define N 10
void stencil(double A[N], double B[N]) {
  int j;
  for (int t = 0; t < 3; t++) {
#pragma omp parallel for
    for (int i = 1; i < N - 1; i++)
      for (j = i; j == i; j++)
        B[i] = 0.33333 * (A[i-1] + A[i] + A[i+1]);
    for (j = 1; j < N - 1; j++)
      A[j] = B[j];
  }
}
