#ifndef N
#define N 14
#endif

void lu(double A[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int strip1 = 0; strip1 <= i - 1; strip1 += 4)
      for (int j = strip1; j < ((i - 1 < strip1 + 3) ? (i - 1) : (strip1 + 3)) + 1; j++) {
        for (int k = 0; k < j; k++)
          A[i][j] -= A[i][k] * A[k][j];
        A[i][j] /= A[j][j];
      }
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
