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
  {
    int i = 0;
    for (; i <= N - 1;) {
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
      i += 1;
    }
  }
#pragma endscop
}
