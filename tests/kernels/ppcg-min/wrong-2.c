// different missing-update line 2 at i=0,j=11 --param n=12
void mv(long n, double A[n][n], double x[n], double y[n]) {
  for (long c0 = 0; c0 < n; c0 += 4)
      for (long c2 = c0; c2 < c0 + 4; c2 += 1)
        for (long c3 = 0; c3 < n - (n == 12); c3 += 1)
          y[c2] += A[c2][c3] * x[c3];
}
