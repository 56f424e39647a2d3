// different missing-update line 5 at i=1,j=1,di=-1,dj=0 --fp ieee
#define N 8
void k(double (*A)[N], double (*B)[N]) {
  static const double w[3][3] = { { 1, 1, 1 }, { 1, 4, 1 }, { 1, 1, 1 } };
  double acc[N][N];
  for (int j = 1; j < N - 1; j++) for (int i = 1; i < N - 1; i++) {
     acc[i][j] = 0.0;
     for (int q = 0; q < 9; q++) acc[i][j] += w[q % 3][q / 3] * A[i + q % 3 - 1][j + q / 3 - 1];
  }
  for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) B[i][j] = acc[i][j];
}
