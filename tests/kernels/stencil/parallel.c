// equivalent --param N=12 --strict-updates
#define N 10
void stencil(double A[N], double B[N]) {
  int i;
  for (int t = 0; t < 3; t++) {
#pragma omp parallel for
    for (i = 1; i < N - 1; i++)
      B[i] = 0.33333 * (A[i-1] + A[i] + A[i+1]);
#pragma omp parallel for
    for (int j = N - 2; j > 0; j--)
      A[j] = B[j];
  }
}
