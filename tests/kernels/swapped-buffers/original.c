void st(int T, int n, double A[2][n]) {
  for (int t = 0; t < T; t++) for (int i = 1; i < n-1; i++) A[(t+1)%2][i] = 0.5 * (A[t%2][i-1] + A[t%2][i+1]);
}
