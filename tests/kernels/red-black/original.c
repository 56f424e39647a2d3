void rb(int n, double u[n+2]) {
  for (int i = 1; i <= n; i += 2) u[i] = 0.5 * (u[i-1] + u[i+1]);
  for (int i = 2; i <= n; i += 2) u[i] = 0.5 * (u[i-1] + u[i+1]);
}
