// different --fp ieee
#include <math.h>
#define ceild(n, d) ceil(((double)(n)) / ((double)(d)))
#define floord(n, d) floor(((double)(n)) / ((double)(d)))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define min(x, y) ((x) < (y) ? (x) : (y))
#define N 20
void f(double A[N][N], double B[N][N], double C[N][N]) {
  int t1, t2, t3, t4, t5, t6;
  for (t1 = 0; t1 <= floord(N - 1, 8); t1++)
    for (t2 = 0; t2 < floord(N - 1, 8); t2++)
      for (t3 = 0; t3 <= floord(N - 1, 8); t3++)
        for (t4 = 8 * t1; t4 <= min(N - 1, 8 * t1 + 7); t4++)
          for (t5 = 8 * t3; t5 <= min(N - 1, 8 * t3 + 7); t5++)
            for (t6 = 8 * t2; t6 <= min(N - 1, 8 * t2 + 7); t6++)
              C[t4][t6] = C[t4][t6] + A[t4][t5] * B[t5][t6];
}
