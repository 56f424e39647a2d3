// different --param n=9 --param m=8
static inline int imax(int a, int b) { if (a > b) return a; return b; }
int lcs(int n, int m, const char *s, const char *t, int L[n+1][m+1]) {
  int i, j, d;
  for (i = 0; i <= n; i++) for (j = 0; j <= m; j++) if (i == 0 || j == 0) L[i][j] = 0;
  for (d = 2; d <= n + m; d++)
    for (i = (d - m > 1 ? d - m : 1); i <= (n < d - 1 ? n : d - 1); i++) {
      j = d - i;
      L[i][j] = s[i-1] == t[j-1] ? L[i-1][j-1] + 1 : imax(L[i-1][j-1], L[i][j-1]);
    }
  return L[n][m];
}
