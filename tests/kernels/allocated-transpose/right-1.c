// equivalent --param n=8
#include <stdlib.h>
#include <string.h>
void tr(int n, const float *in, float *out) {
  float (*T)[n] = (float (*)[n])malloc(sizeof(float) * n * n);
  const float (*I)[n] = (const float (*)[n])in;
  for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) T[j][i] = I[i][j];
  memcpy(out, T, n * n * sizeof(float));
  free(T);
}
