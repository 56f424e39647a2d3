// equivalent --fp ieee
void f(double a[8]) { double *p = a, *q = a + 1; for (int i = 0; i < 7; i++) { *q += *p; p++; q++; } }
