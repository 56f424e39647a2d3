// different --param n=7
void lu(int n, double A[n][n]) {
  for (int c0 = 0; c0 < n - 1; c0 += 1)
    for (int c1 = c0 + 1; c1 < n; c1 += 1) {
      for (int c2 = c0 + 1; c2 < n; c2 += 1)
        A[c1][c2] -= A[c1][c0] * A[c0][c2];
      A[c1][c0] /= A[c0][c0];
    }
}
