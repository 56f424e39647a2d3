// different anti line 7 at t=1,i=2,j=1,k=1 --param T=3 --param n=7
#define S(X,Y,i,j,k) X[i][j][k] = 0.125 * (Y[(i)+1][j][k] - 2.0 * Y[i][j][k] + Y[(i)-1][j][k]) + 0.125 * (Y[i][(j)+1][k] - 2.0 * Y[i][j][k] + Y[i][(j)-1][k]) + 0.125 * (Y[i][j][(k)+1] - 2.0 * Y[i][j][k] + Y[i][j][(k)-1]) + Y[i][j][k]
#define min(a,b) (((a)<(b))?(a):(b))
#define max(a,b) (((a)>(b))?(a):(b))
void heat(int T, int n, double A[n][n][n], double B[n][n][n]) {
  /* skewed in i by 1t only: illegal */
  for (int c = 2; c <= T + n - 1; c++)
    for (int t = max(1, c - n + 1); t <= min(T, c - 1); t++) {
      int i = c - t;
      if (i >= 1 && i <= n - 2)
        for (int j = 1; j < n-1; j++) for (int k = 1; k < n-1; k++) { S(B, A, i, j, k); }
      if (i - 1 >= 1 && i - 1 <= n - 2)
        for (int j = 1; j < n-1; j++) for (int k = 1; k < n-1; k++) { S(A, B, i-1, j, k); }
    }
}
