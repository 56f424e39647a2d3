// different undefined --param N=12
#define N 10
void stencil(double A[N], double B[N]) {
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < N - 1; i++)
      B[i] = 0.33333 * (A[i-1] + A[i] + A[i+1]);
    for (int j = 1; j <= N; j++)
      if (B[j] == B[j] && j < N - 1) A[j] = B[j];
  }
}
