/* floyd-warshall: shortest paths between all pairs, integer weights. params: N=12 */
#ifndef N
#define N 12
#endif

void floyd_warshall(int path[N][N])
{
#pragma scop
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}
