// equivalent --fp ieee
void f(double a[8]) { double t = *a; for (double *p = a + 1; p != &a[8]; ++p) *p = t = t + *p; }
