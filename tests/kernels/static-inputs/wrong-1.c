// unknown no-invariant --param N=6
static double A[N][N], x[N]; double y[N];
double alpha;
void k(void) { for (int i = 0; i < N; i++) y[i] = 0; for (int j = 0; j < N; j++) for (int i = 0; i < N; i++) y[i] += alpha * (A[i][j] * x[j]); }
