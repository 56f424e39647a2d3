// equivalent
double t; void k(double A[8], double B[8]) { for (int i = 0; i < 8; i++) { B[i] = t = A[i]; } }
