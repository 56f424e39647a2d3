// different race
void k(double a[8][8], double s[8]) {
#pragma simd
  for (int i = 0; i < 8; i++) {
#pragma unroll(4)
    {
      s[i] = 0;
      
#pragma omp simd
      for (int j = 0; j < 8; j++) s[i] += a[i][j];
    }
  }
}
