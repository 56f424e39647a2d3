// equivalent --fp ieee
#define N 8
void k(double (*A)[N], double (*B)[N]) {
  static const double w[3][3] = { { 1, 1, 1 }, { 1, [1] = 4, 1 }, [2] = { 1, 1, 1 } };
  static const signed char off[9][2] = {{-1,-1},{-1,0},{-1,1},{0,-1},{0,0},{0,1},{1,-1},{1,0},{1,1}};
  double acc[N][N];
  for (int j = 1; j < N - 1; j++) for (int i = 1; i < N - 1; i++) {
     acc[i][j] = 0.0;
     for (int q = 0; q < 9; q++) acc[i][j] += w[1 + off[q][0]][1 + off[q][1]] * A[i + off[q][0]][j + off[q][1]];
  }
  for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) B[i][j] = acc[i][j];
}
