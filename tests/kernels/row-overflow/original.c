void f(double A[4][8], double r[1]) { double s = 0; for (int i = 0; i < 4; i++) for (int j = 0; j < 8; j++) s += A[i][j]; *r = s; }
