// equivalent --fp ieee
#include <math.h>
#define ceild(n, d) ceil(((double)(n)) / ((double)(d)))
#define floord(n, d) floor(((double)(n)) / ((double)(d)))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define min(x, y) ((x) < (y) ? (x) : (y))
#define T 6
#define N 24
void f(double A[N], double B[N]) {
  int t1, t2, t3, t4;
  register int lbv, ubv;
  int lb, ub, lbp, ubp, lb2, ub2;
  for (t1 = 0; t1 <= floord(2 * T + N - 4, 8); t1++) {
    lbp = max(0, ceild(8 * t1 - 2 * T + 0, 8));
    for (t2 = 0; t2 <= 2 * T + N; t2++) {
      if (t2 / 8 == t1) {
        t3 = t2;
        for (int t = max(0, 0); t < T; t++) {
          int i = t3 - 2 * t;
          if (i >= 1 && i <= N - 2)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
          int k = t3 - 2 * t - 1;
          if (k >= 1 && k <= N - 2)
            A[k] = 0.33333 * (B[k - 1] + B[k] + B[k + 1]);
        }
      }
    }
  }
}
