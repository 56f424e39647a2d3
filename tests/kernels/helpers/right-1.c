// equivalent --fp ieee
#define N 8
static inline double mx(double a, double b) {
  if (a > b)
    return a;
  return b;
}
void f(double A[N], double B[N]) {
  for (int i = 1; i < N - 1; i++)
    B[i] = mx(A[i - 1], A[i + 1]);
}
