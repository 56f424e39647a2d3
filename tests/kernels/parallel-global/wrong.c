// different race
double t; void k(double A[8], double B[8]) {
#pragma omp parallel for
  for (int i = 0; i < 8; i++) { t = A[i]; B[i] = t; } }
