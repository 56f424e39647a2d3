// equivalent --fp ieee
#define N 10
void f(double A[N], double lo, double hi) {
  for (int i = 0; i < N; i++) {
    double x = A[i];
    int c = x < lo;
    int d = x > hi;
    A[i] = c ? lo : d ? hi : x;
  }
}
