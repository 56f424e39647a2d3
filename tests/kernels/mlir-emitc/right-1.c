// equivalent --fp ieee
#include <stddef.h>
void m(float v1[4][8], float v2[8][4], float v3[4][4]) {
  size_t v4 = 0; size_t v5 = 4; size_t v6 = 8; size_t v7 = 1; size_t v8 = 2;
  for (size_t v9 = v4; v9 < v5; v9 += v8) {
    for (size_t v10 = v4; v10 < v6; v10 += v7) {
      for (size_t v11 = v9; v11 < v9 + v8; v11 += v7) {
        for (size_t v12 = v4; v12 < v5; v12 += v7) {
          float v13 = v1[v11][v10];
          float v14 = v2[v10][v12];
          float v15 = v3[v11][v12];
          float v16 = v13 * v14;
          float v17 = v15 + v16;
          v3[v11][v12] = v17;
        }
      }
    }
  }
  return;
}
