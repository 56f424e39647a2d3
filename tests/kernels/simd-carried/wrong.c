// different race
void k(double A[64]) {
#pragma omp simd
for (int i = 1; i < 64; i++) A[i] = A[i-1] + 1; }
