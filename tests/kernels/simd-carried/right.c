// equivalent
void k(double A[64]) { for (int i = 0; i < 63; i++) A[i + 1] = A[i] + 1; }
