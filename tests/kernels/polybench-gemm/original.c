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
  int i, j, k;
#pragma scop
  for (i = 0; i < _PB_NI; i++) {
    for (j = 0; j < _PB_NJ; j++)
	C[i][j] *= beta;
    for (k = 0; k < _PB_NK; k++) {
       for (j = 0; j < _PB_NJ; j++)
	  C[i][j] += alpha * A[i][k] * B[k][j];
    }
  }
#pragma endscop
}
