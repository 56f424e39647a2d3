// different --param n=10
void f(int n, double A[n], double B[n]) {
 for (int t = 0; t < 3; t++) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++) { B[i] = (A[i-1] + A[i] + A[i+1]) / 3; A[i] = B[i]; } } }
