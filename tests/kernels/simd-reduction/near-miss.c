// different
void k(double A[64], double r[1]) { double s = 0; for (int i = 0; i < 63; i++) s += A[i]; r[0] = s; }
