// different anti line 3 at k=0,i=0,j=1 --param n=7
void fw(int n, int path[n][n]) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
