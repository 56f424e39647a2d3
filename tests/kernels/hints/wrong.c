// different
void k(double a[8][8], double s[8]) {
#pragma simd
  for (int i = 0; i < 8; i++) {
#pragma unroll(4)
    {
      s[i] = 0;
      int j = 0;
#pragma ivdep
      while (j < 7) { s[i] += a[i][j]; j++; }
    }
  }
}
