// different missing-update line 2 at i=-9 --param N=9
#define S1(i) B[(i) + N] = A[N - (i)] * 2 + (double)(i)
void k(int N, double A[2*N+1], double B[2*N+1]) {
  int c1, c2;
  for (c1=-N/4;c1<=N/4;c1++) for (c2=(-N>4*c1?-N:4*c1);c2<=(N<4*c1+3?N:4*c1+3);c2++) { S1(c2); }
}
