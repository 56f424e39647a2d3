#define N 8
double A[N][N], B[N][N];
static double tmp[N];
void init(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = (double)(i * j % 7) / N;
      B[i][j] = 0.0;
    }
}
void kernel(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      B[i][j] = A[j][i] * 2.0;
}
