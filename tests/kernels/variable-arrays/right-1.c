// equivalent --param n=6 --param m=9
void f(int n, int m, double A[static restrict n][m], double x[restrict m], double y[restrict n]) {
  double acc[n];
  for (int i = 0; i < n; i++)
    acc[i] = 0;
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      acc[i] += A[i][j] * x[j];
  for (int i = 0; i < n; i++)
    y[i] = acc[i];
}
