#ifndef N
#define N 16
#endif

void durbin(double r[N], double y[N])
{
  double z[N];
  double alpha;
  double beta;
  double sum;
#pragma scop
  y[0] = -r[0];
  beta = 1.0;
  alpha = -r[0];
  for (int k = 1; k < N; k++) {
    beta = (1 - alpha * alpha) * beta;
    sum = 0.0;
    for (int i = 0; i < k; i++)
      sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    {
      int i = 0;
      for (; i <= k - 1;) {
        z[i] = y[i] + alpha * y[k - i - 1];
        i += 1;
      }
    }
    for (int i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha;
  }
#pragma endscop
}
