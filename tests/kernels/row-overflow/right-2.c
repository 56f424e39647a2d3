// equivalent --fp ieee
void f(double A[4][8], double r[1]) { double s = 0; double *p = (double *)A; for (int i = 0; i < 32; i++) s += p[i]; *r = s; }
