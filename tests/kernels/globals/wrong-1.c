// different --function kernel
#define N 8
double A[N][N], B[N][N];
void kernel(void) {
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      B[i][j] = A[i][j] + A[i][j];
}
