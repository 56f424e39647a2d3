// equivalent --param n=7
#define ppcg_min(x,y)    ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x < _y ? _x : _y; })
#define ppcg_max(x,y)    ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x > _y ? _x : _y; })
#define ppcg_fdiv_q(n,d) (((n)<0) ? -((-(n)+(d)-1)/(d)) : (n)/(d))
void lu(int n, double A[n][n]) {
  for (int c0 = 0; c0 < n - 1; c0 += 1)
    for (int c1 = c0 + 1; c1 < n; c1 += 1) {
      A[c1][c0] /= A[c0][c0];
      for (int c2 = c0 + 1; c2 < n; c2 += 1)
        A[c1][c2] -= A[c1][c0] * A[c0][c2];
    }
}
