// different --fp ieee
void f(double a[8]) { double *p = a + 7, *q = a + 6; while (q >= a) { *p = *q + *p; --p; if (q == a) break; --q; } }
