// different race
void k(double A[64], double r[1]) { double s = 0;
#pragma omp simd
for (int i = 0; i < 64; i++) s += A[i]; r[0] = s; }
