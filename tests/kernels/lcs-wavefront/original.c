#define MAX(a,b) ((a) > (b) ? (a) : (b))
int lcs(int n, int m, const char *s, const char *t, int L[n+1][m+1]) {
  for (int i = 0; i <= n; i++) L[i][0] = 0;
  for (int j = 0; j <= m; j++) L[0][j] = 0;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      if (s[i-1] == t[j-1]) L[i][j] = L[i-1][j-1] + 1;
      else L[i][j] = MAX(L[i-1][j], L[i][j-1]);
  return L[n][m];
}
