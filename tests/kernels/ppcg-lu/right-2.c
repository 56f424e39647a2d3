// equivalent --param n=7
#define ppcg_min(x,y)    ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x < _y ? _x : _y; })
#define ppcg_max(x,y)    ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x > _y ? _x : _y; })
void lu(int n, double A[n][n]) {
  for (int c0 = 0; c0 < n; c0 += 4)
  for (int c1 = 0; c1 < n; c1 += 4)
  for (int c2 = 0; c2 <= ppcg_min(n - 1, ppcg_min(c0 + 3, c1 + 3)); c2 += 4)
  for (int c3 = c0; c3 <= ppcg_min(n - 1, c0 + 3); c3 += 1)
  for (int c4 = c1; c4 <= ppcg_min(n - 1, c1 + 3); c4 += 1) {
    for (int c5 = c2; c5 <= ppcg_min(ppcg_min(c2 + 3, c3 - 1), c4 - 1); c5 += 1)
      A[c3][c4] -= A[c3][c5] * A[c5][c4];
    if (c4 < c3 && c2 <= c4 && c4 <= c2 + 3) A[c3][c4] /= A[c4][c4];
  }
}
