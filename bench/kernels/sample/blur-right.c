#ifndef N
#define N 14
#endif

void blur(unsigned char in[N][N], unsigned char out[N][N])
{
  int rows[N][N];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N - 1; j++)
      rows[i][j] = in[i][j - 1] + 2 * in[i][j] + in[i][j + 1];
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++) {
      if (!(j >= 1))
        continue;
      out[i][j] = (unsigned char) (rows[i - 1][j] + 2 * rows[i][j] + rows[i + 1][j] + 8 >> 4);
    }
#pragma endscop
}
