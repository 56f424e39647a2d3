// equivalent --param n=5
#include <stdlib.h>
#include <string.h>
typedef double row[5];
void k(int n, row *A, row *B, row *C, row *D, row *G) {
  double (*E)[n] = malloc(sizeof(double) * n * n);
  row *F = (row *)malloc(5 * sizeof(row));
  for (int i = n; i-- > 0; ) for (int j = 0; j < n; j++) { E[i][j] = F[i][j] = 0; for (int k = 0; k < n; k++) { E[i][j] += A[i][k]*B[k][j]; F[i][j] += C[i][k]*D[k][j]; } }
  for (int i = n - 1; i >= 0; --i) { memset(G[i], 0, sizeof(row)); for (int k = 0; k < n; k++) { double e = E[i][k]; for (int j = 0; j < n; j++)  G[i][j] += e*F[k][j]; } }
  free(F); free(E);
}
