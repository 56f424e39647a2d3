#ifndef N
#define N 12
#endif

void floyd_warshall(int path[N][N])
{
#pragma scop
  for (int c1 = 0; c1 < N; c1 += 1)
    for (int c3 = 0; c3 < N; c3 += 1)
      for (int c5 = 0; c5 < N; c5 += 1)
        path[c5][c3] = (path[c5][c3] < path[c5][c1] + path[c1][c3]) ? (path[c5][c3]) : (path[c5][c1] + path[c1][c3]);
#pragma endscop
}
