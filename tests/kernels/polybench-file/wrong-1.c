// different --param ni=8 --param nj=8 --param nk=8
#define N 8
#define DATA_TYPE double
#define SCALAR_VAL(x) x
#define POLYBENCH_2D(var, dim1, dim2,ddim1, ddim2) var[dim1+0][dim2+0]
#define _PB_NI ni
#define _PB_NJ nj
#define _PB_NK nk
#include <math.h>
#define ceild(n,d)  ceil(((double)(n))/((double)(d)))
#define floord(n,d) floor(((double)(n))/((double)(d)))
#define max(x,y)    ((x) > (y)? (x) : (y))
#define min(x,y)    ((x) < (y)? (x) : (y))
#define NI N
#define NJ N
#define NK N
static
void kernel_gemm(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE beta,
		 DATA_TYPE POLYBENCH_2D(C,NI,NJ,ni,nj),
		 DATA_TYPE POLYBENCH_2D(A,NI,NK,ni,nk),
		 DATA_TYPE POLYBENCH_2D(B,NK,NJ,nk,nj))
{
  int t1, t2, t3, t4, t5, t6, t7;
 register int lbv, ubv;
    for (t2=0;t2<=floord(_PB_NI-1,3);t2++) {
      for (t3=0;t3<=floord(_PB_NJ-1,3);t3++) {
        for (t4=0;t4<=floord(_PB_NK-1,3);t4++) {
          for (t5=3*t2;t5<=min(_PB_NI-1,3*t2+2);t5++) {
              lbv=3*t3;
              ubv=min(_PB_NJ-1,3*t3+2);
              for (t7=lbv;t7<=ubv;t7++) {
          C[t5][t7] *= beta;;
              }
            for (t6=3*t4;t6<=min(_PB_NK-1,3*t4+2);t6++) {
              for (t7=lbv;t7<=ubv;t7++) {
                C[t5][t7] += alpha * A[t5][t6] * B[t6][t7];;
              }
            }
          }
        }
      }
    }
}
