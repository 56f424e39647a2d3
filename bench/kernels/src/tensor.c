/* tensor: contraction of a four-dimensional array with a matrix. params: N=6 */
#ifndef N
#define N 6
#endif

void tensor(double T[N][N][N][N], double M[N][N], double R[N][N])
{
  double part[N];
#pragma scop
  for (int a = 0; a < N; a++)
    for (int b = 0; b < N; b++) {
      for (int c = 0; c < N; c++) {
        part[c] = 0.0;
        for (int d = 0; d < N; d++)
          part[c] += T[a][b][c][d] * M[c][d];
      }
      R[a][b] = part[0];
      for (int c = 1; c < N; c++)
        R[a][b] = R[a][b] + part[c];
    }
#pragma endscop
}
