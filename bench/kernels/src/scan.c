/* scan: running sums by rows, then by columns, of a flat single-precision array. params: N=16 */
#ifndef N
#define N 16
#endif

void scan(float a[N * N], float total[N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 1; j < N; j++)
      a[i * N + j] += a[i * N + j - 1];
    total[i] = a[i * N + N - 1];
  }
  for (int i = 1; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i * N + j] += a[(i - 1) * N + j];
#pragma endscop
}
