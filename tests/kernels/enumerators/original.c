enum { N = 8, M = N / 2 };
const double w[3] = {0.25, 0.5, 0.25};
void f(double a[N], double b[M]) {
  for (int i = 0; i < M; i++) {
    b[i] = 0;
    for (int k = -1; k <= 1; k++) {
      int p = 2 * i + k;
      if (p >= 0 && p < N)
        b[i] += w[k + 1] * a[p];
    }
  }
}
