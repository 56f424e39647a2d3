void k(double A[64]) { for (int i = 1; i < 64; i++) A[i] = A[i-1] + 1; }
