// different --fp ieee
void f(double A[4][8], double r[1]) { double s = 0; for (int i = 0; i < 32; i++) s += A[0][i]; *r = s; }
