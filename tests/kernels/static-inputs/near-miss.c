// different --param N=6
#ifndef N
#define N 6
#endif
static double A[N][N], x[N]; double y[N];
double alpha;
void k(void) { for (int i = 0; i < N; i++) { y[i] = 1; for (int j = 0; j < N; j++) y[i] += alpha * A[i][j] * x[j]; } }
