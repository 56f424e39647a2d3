// equivalent --param n=13
void rb(int n, double u[n+2]) {
  for (int c = 0; c < 2; c++) for (int i = 1; i <= n; i++) { if ((i - 1) % 2 == c) u[i] = (u[i-1] + u[i+1]) * .5; }
}
