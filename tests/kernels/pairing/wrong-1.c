// different --param N=7
typedef char base;
static inline int match(base a, base b) { return a + b == 3; }
static inline void up(int *c, int v) { if (*c < v) *c = v; }
void kernel_nussinov(base seq[N], int table[N][N]) {
  for (int d = 1; d < N; d++)
    for (int i = 0, j = d; j < N; i++, j++) {
      int *c = &table[i][j];
      up(c, table[i][j-1]);
      up(c, table[i+1][j]);
      up(c, table[i+1][j-1] + match(seq[i], seq[j]));
      for (int k = i + 1; k < j; k++) up(c, table[i][k] + table[k+1][j]);
    }
}
