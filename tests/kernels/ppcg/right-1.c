// equivalent --fp ieee
#define N 24
#define ppcg_min(x, y)                                                                                       \
  ({                                                                                                         \
    __typeof__(x) _x = (x);                                                                                  \
    __typeof__(y) _y = (y);                                                                                  \
    _x < _y ? _x : _y;                                                                                       \
  })
#define ppcg_max(x, y)                                                                                       \
  ({                                                                                                         \
    __typeof__(x) _x = (x);                                                                                  \
    __typeof__(y) _y = (y);                                                                                  \
    _x > _y ? _x : _y;                                                                                       \
  })
#define ppcg_fdiv_q(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
void f(float A[N][N], float x[N], float y[N]) {
  /* ppcg generated CPU code */
  for (int c0 = 0; c0 < N; c0 += 7)
    for (int c1 = 0; c1 < N; c1 += 7)
      for (int c2 = 0; c2 <= ppcg_min(6, N - c0 - 1); c2 += 1)
        for (int c3 = 0; c3 <= ppcg_min(6, N - c1 - 1); c3 += 1)
          y[c0 + c2] += (A[c0 + c2][c1 + c3] * x[c1 + c3]);
}
