#ifndef N
#define N 12
#endif
static int part1(int v0, int v1, int v2) { return (v0 < v1 + v2) ? (v0) : (v1 + v2); }

void floyd_warshall(int path[N][N])
{
#pragma scop
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        path[i][j] = part1(path[i][j], path[i][k], path[k][j]);
#pragma endscop
}
