// equivalent --param n=7
void fw(int n, int path[n][n]) {
  for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
    int t = path[i][k] + path[k][j];
    if (!(path[i][j] < t)) path[i][j] = t;
  }
}
