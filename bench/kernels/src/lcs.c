/* lcs: longest common subsequence of two strings of char data. params: N=18 */
#ifndef N
#define N 18
#endif

void lcs(char s[N], char t[N], int best[N + 1][N + 1])
{
#pragma scop
  for (int i = 0; i <= N; i++) {
    best[i][0] = 0;
    best[0][i] = 0;
  }
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++) {
      if (s[i - 1] == t[j - 1])
        best[i][j] = best[i - 1][j - 1] + 1;
      else
        best[i][j] = best[i - 1][j] > best[i][j - 1] ? best[i - 1][j] : best[i][j - 1];
    }
#pragma endscop
}
