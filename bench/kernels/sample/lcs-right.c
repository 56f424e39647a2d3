#ifndef N
#define N 18
#endif
#define S0(i) best[(i)][0] = 0
#define S1(i) best[0][(i)] = 0
#define S2(i, j) do { if (s[(i) - 1] == t[(j) - 1]) best[(i)][(j)] = best[(i) - 1][(j) - 1] + 1; else best[(i)][(j)] = (best[(i) - 1][(j)] > best[(i)][(j) - 1]) ? (best[(i) - 1][(j)]) : (best[(i)][(j) - 1]); } while (0)

void lcs(char s[N], char t[N], int best[N + 1][N + 1])
{
#pragma scop
  {
    for (int c1 = 0; c1 <= N; c1 += 1) {
      S0(c1);
      S1(c1);
    }
    for (int c1 = 1; c1 <= N; c1 += 1)
      for (int c3 = 2 * c1 + 1; c3 <= N + 2 * c1; c3 += 1)
        S2(c1, -2 * c1 + c3);
  }
#pragma endscop
}
