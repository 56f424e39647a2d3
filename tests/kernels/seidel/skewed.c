// equivalent --param steps=3 --param n=8
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
void seidel(int steps, int n, double A[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int d = 2; d <= 2 * (n - 2); d++)
      for (int i = max(1, d - (n - 2)); i <= min(n - 2, d - 1); i++)
        A[i][d-i] = (A[i-1][d-i] + A[i][d-i-1] + A[i][d-i] + A[i][d-i+1] + A[i+1][d-i]) / 5.0;
}
