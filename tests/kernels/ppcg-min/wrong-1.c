// different anti line 2 at i=0,j=0 --param n=12
#define ppcg_min(x,y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x < _y ? _x : _y; })
void mv(long n, double A[n][n], double x[n], double y[n]) {
  for (long c0 = 0; c0 <= (n - 1) / 5; c0 += 1)
    for (long c1 = (n - 1) / 5; c1 >= 0; c1 -= 1)
      for (long c2 = 0; c2 <= ppcg_min(4L, n - 5 * c0 - 1); c2 += 1)
        for (long c3 = 0; c3 <= ppcg_min(4L, n - 5 * c1 - 1); c3 += 1)
          y[5 * c0 + c2] += (A[5 * c0 + c2][5 * c1 + c3] * x[5 * c1 + c3]);
}
