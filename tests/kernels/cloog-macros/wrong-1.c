// different --param T=4 --param N=12
#define S1(t,i) B[i] = 0.33333 * (A[(i)-1] + A[i] + A[(i)+1])
#define S2(t,i) A[i] = 0.33333 * (B[(i)-1] + B[i] + B[(i)+1])
void jacobi(double A[N], double B[N]) {
  int c1, c2;
  for (c1=0;c1<=T-1;c1++) {
    for (c2=2*c1+1;c2<=2*c1+N-2;c2++) {
      S1(c1,(-2*c1+c2));
      S2(c1,(-2*c1+c2));
    }
  }
}
