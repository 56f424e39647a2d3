// equivalent --param ni=9 --param nj=10 --param nk=11
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

static
void kernel_gemm(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE beta,
   DATA_TYPE POLYBENCH_2D(C,NI,NJ,NI,NJ), DATA_TYPE POLYBENCH_2D(A,NI,NK,NI,NK), DATA_TYPE POLYBENCH_2D(B,NK,NJ,NK,NJ))
{
  int t1, t2, t3, t4, t5, t6;
  int lb, ub, lbp, ubp, lb2, ub2;
  register int lbv, ubv;
#pragma scop
if ((_PB_NI >= 1) && (_PB_NJ >= 1)) {
  lbp=0;
  ubp=floord(_PB_NI-1,4);
#pragma omp parallel for private(lbv,ubv,t3,t4,t5,t6)
  for (t2=lbp;t2<=ubp;t2++) {
    for (t3=0;t3<=floord(_PB_NJ-1,4);t3++) {
      for (t4=4*t2;t4<=min(_PB_NI-1,4*t2+3);t4++) {
        lbv=4*t3;
        ubv=min(_PB_NJ-1,4*t3+3);
#pragma ivdep
#pragma vector always
        for (t5=lbv;t5<=ubv;t5++) {
          C[t4][t5] *= beta;;
        }
      }
    }
  }
  if (_PB_NK >= 1) {
    lbp=0;
    ubp=floord(_PB_NI-1,4);
#pragma omp parallel for private(lbv,ubv,t3,t4,t5,t6)
    for (t2=lbp;t2<=ubp;t2++) {
      for (t3=0;t3<=floord(_PB_NJ-1,4);t3++) {
        for (t4=0;t4<=floord(_PB_NK-1,4);t4++) {
          for (t5=4*t2;t5<=min(_PB_NI-1,4*t2+3);t5++) {
            for (t6=4*t4;t6<=min(_PB_NK-1,4*t4+3);t6++) {
              lbv=4*t3;
              ubv=min(_PB_NJ-1,4*t3+3);
#pragma ivdep
#pragma vector always
              for (int t7=lbv;t7<=ubv;t7++) {
                C[t5][t7] += alpha * A[t5][t6] * B[t6][t7];;
              }
            }
          }
        }
      }
    }
  }
}
#pragma endscop
}
