// equivalent --fp ieee
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
void matmul(float* v1, float* v2, float* v3) {
  size_t v4 = 0; size_t v5 = 1; size_t v6 = 4; size_t v7 = 5; size_t v8 = 6;
  float v9 = 0.000000000e+00f;
  float v10[20];
  for (size_t v11 = v4; v11 < v6; v11 += v5) {
    for (size_t v12 = v4; v12 < v7; v12 += v5) {
      float v13 = v9;
      for (size_t v14 = v4; v14 < v8; v14 += v5) {
        size_t v15 = v11 * v8; size_t v16 = v15 + v14;
        float v17 = v1[v16];
        size_t v18 = v14 * v7; size_t v19 = v18 + v12;
        float v20 = v2[v19];
        float v21 = v17 * v20;
        float v22 = v13 + v21;
        v13 = v22;
      }
      size_t v23 = v11 * v7; size_t v24 = v23 + v12;
      v10[v24] = v13;
    }
  }
  for (size_t v11 = v4; v11 < 20; v11 += v5) v3[v11] = v10[v11];
  return;
}
