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
      {
        int q1 = 0;
        if (q1 <= D - 1) {
          switch ((D - 1 - 0 + 1) % 3) {
            case 2:
            {
              dist[i][c] += (point[i][q1] - centre[c][q1]) * (point[i][q1] - centre[c][q1]);
            }
            q1++;
            case 1:
            {
              dist[i][c] += (point[i][q1] - centre[c][q1]) * (point[i][q1] - centre[c][q1]);
            }
            q1++;
            default:
            break;
          }
        }
        for (; q1 <= D - 1; q1 += 3) {
          dist[i][c] += (point[i][q1] - centre[c][q1]) * (point[i][q1] - centre[c][q1]);
          dist[i][c] += (point[i][q1 + 1] - centre[c][q1 + 1]) * (point[i][q1 + 1] - centre[c][q1 + 1]);
          dist[i][c] += (point[i][q1 + 2] - centre[c][q1 + 2]) * (point[i][q1 + 2] - centre[c][q1 + 2]);
        }
      }
      if (dist[i][c] < least[i]) {
        least[i] = dist[i][c];
        owner[i] = c;
      }
    }
  }
#pragma endscop
}
