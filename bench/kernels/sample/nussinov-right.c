#ifndef N
#define N 12
#endif
static int part1(int v0, int v1, int v2) { return (v0 >= v1 + v2) ? (v0) : (v1 + v2); }

void nussinov(char seq[N], int table[N][N])
{
#pragma scop
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j < N; j++) {
      table[i][j] = (table[i][j] >= table[i][j - 1]) ? (table[i][j]) : (table[i][j - 1]);
      if (i + 1 < N) {
        table[i][j] = (table[i][j] >= table[i + 1][j]) ? (table[i][j]) : (table[i + 1][j]);
      }
      if (i + 1 < N) {
        if (i < j - 1) {
          table[i][j] = (table[i][j] >= table[i + 1][j - 1] + ((seq[i] + seq[j] == 3) ? (1) : (0))) ? (table[i][j]) : (table[i + 1][j - 1] + ((seq[i] + seq[j] == 3) ? (1) : (0)));
        }
        else {
          table[i][j] = (table[i][j] >= table[i + 1][j - 1]) ? (table[i][j]) : (table[i + 1][j - 1]);
        }
      }
      {
        int q2 = i + 1;
        if (q2 <= j - 1)
          switch ((j - 1 - (i + 1) + 1) % 3) {
            case 2:
            {
              table[i][j] = part1(table[i][j], table[i][q2], table[q2 + 1][j]);
            }
            q2++;
            case 1:
            {
              table[i][j] = part1(table[i][j], table[i][q2], table[q2 + 1][j]);
            }
            q2++;
            default:
            break;
          }
        for (; q2 <= j - 1; q2 += 3) {
          table[i][j] = part1(table[i][j], table[i][q2], table[q2 + 1][j]);
          table[i][j] = part1(table[i][j], table[i][q2 + 1], table[q2 + 1 + 1][j]);
          table[i][j] = part1(table[i][j], table[i][q2 + 2], table[q2 + 2 + 1][j]);
        }
      }
    }
#pragma endscop
}
