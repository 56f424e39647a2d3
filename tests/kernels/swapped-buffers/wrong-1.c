// different flow line 2 at t=3,i=1 --param T=5 --param n=12
void st(int T, int n, double A[2][n]) {
  double *cur = A[0], *nxt = A[1];
  for (int t = 0; t < T; t++) {
    for (int i = n - 2; i >= 1; --i) nxt[i] = (cur[i-1] + cur[i+1]) / 2;
    if (t != 2) { double *tmp = cur; cur = nxt; nxt = tmp; }
  }
}
