// different anti line 2 at i=3 --param n=13
void rb(int n, double u[n+2]) {
  for (int i = 1; i <= n; i++) { u[i] = (u[i-1] + u[i+1]) * .5; }
}
