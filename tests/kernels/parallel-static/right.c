// equivalent
void k(double A[8], double B[8]) {
#pragma omp parallel for
  for (int i = 0; i < 8; i++) { double t; t = A[i]; B[i] = t; } }
