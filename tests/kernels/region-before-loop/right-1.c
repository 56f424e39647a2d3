// equivalent --param n=10
void f(int n, double A[n], double B[n]) {
#pragma omp parallel
 for (int t = 0; t < 3; t++) {
#pragma omp for
  for (int i = 1; i < n - 1; i++) B[i] = (A[i-1] + A[i] + A[i+1]) / 3;
#pragma omp for
  for (int i = 1; i < n - 1; i++) A[i] = B[i]; } }
