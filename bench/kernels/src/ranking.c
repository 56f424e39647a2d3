/* ranking: distances of points to centres, the nearest by data-dependent choice. params: N=16 K=5 D=3 */
#ifndef N
#define N 16
#endif
#ifndef K
#define K 5
#endif
#ifndef D
#define D 3
#endif

void ranking(double point[N][D], double centre[K][D], double dist[N][K], double least[N], int owner[N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    least[i] = 1e30;
    owner[i] = -1;
    for (int c = 0; c < K; c++) {
      dist[i][c] = 0.0;
      for (int d = 0; d < D; d++)
        dist[i][c] += (point[i][d] - centre[c][d]) * (point[i][d] - centre[c][d]);
      if (dist[i][c] < least[i]) {
        least[i] = dist[i][c];
        owner[i] = c;
      }
    }
  }
#pragma endscop
}
