// different --fp ieee
#define N 10
void f(double A[N], double lo, double hi) {
  for (int i = 0; i < N; i++)
    A[i] = A[i] > hi ? hi : (A[i] < lo ? lo : A[i]);
}
