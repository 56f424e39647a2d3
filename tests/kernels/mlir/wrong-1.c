// different --fp ieee
#include <stddef.h>
#include <stdint.h>
void f(double v1[12][12], double v2[12][12]) {
  size_t v3 = 0;
  size_t v4 = 12;
  size_t v5 = 1;
  for (size_t v6 = v3; v6 < v4; v6 += v5) {
    for (size_t v7 = v5; v7 < v4; v7 += v5) {
      double v8 = v1[v6][v7];
      double v9 = v8 * v8;
      double v10 = v2[v6][v7];
      double v11 = v9 + v10;
      v2[v6][v7] = v11;
    }
  }
  return;
}
