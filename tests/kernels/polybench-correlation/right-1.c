// equivalent --param n=7 --param m=6
#include <stddef.h>
#include <math.h>
#ifndef DATA_TYPE
#define DATA_TYPE double
#define SCALAR_VAL(x) x
#define SQRT_FUN(x) sqrt(x)
#endif
#define NI 9
#define NJ 10
#define NK 11
#define _PB_NI ni
#define _PB_NJ nj
#define _PB_NK nk
#define POLYBENCH_2D(var, d1, d2, dd1, dd2) var[dd1][dd2]
#define POLYBENCH_1D(var, d1, dd1) var[dd1]
#define POLYBENCH_ARRAY(x) *x
#define max(a,b) (((a)>(b))?(a):(b))
#define min(a,b) (((a)<(b))?(a):(b))
#define floord(n,d) (((n)<0) ? -((-(n)+(d)-1)/(d)) : (n)/(d))
#define ceild(n,d)  (((n)<0) ? -((-(n))/(d)) : ((n)+(d)-1)/(d))

#define M 6
#define N 7
void kernel_correlation(int m, int n, DATA_TYPE float_n, DATA_TYPE data[restrict n][m], DATA_TYPE corr[restrict m][m], DATA_TYPE mean[m], DATA_TYPE * restrict stddev)
{
  for (int j = m - 1; j >= 0; --j) {
      DATA_TYPE s = 0, q = 0;
      for (unsigned i = 0; i < (unsigned)n; i++) s += data[i][j];
      mean[j] = s / float_n;
      const DATA_TYPE mu = mean[j];
      for (size_t i = 0; i < (size_t)n; ++i) { DATA_TYPE d = data[i][j] - mu; q += d * d; }
      q = sqrt(q / float_n);
      if (q <= 0.1) stddev[j] = 1.0; else stddev[j] = q;
      for (long i = 0; i != n; ++i) { data[i][j] = (data[i][j] - mu) / (sqrt(float_n) * stddev[j]); }
  }
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) {
      if (i == j) { corr[i][j] = 1.; continue; }
      if (j < i) continue;
      double acc = 0.0;
      for (int k = 0; k < n; k++) acc += data[k][i] * data[k][j];
      corr[i][j] = corr[j][i] = acc;
    }
  }
}
