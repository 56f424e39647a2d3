#define N 8
void f(double A[N], double B[N]) {
  for (int i = 1; i < N - 1; i++)
    B[i] = (A[i - 1] > A[i + 1] ? A[i - 1] : A[i + 1]);
}
