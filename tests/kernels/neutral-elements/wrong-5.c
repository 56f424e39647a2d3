// different --fp ieee
void f(double a[4], double r[4]) { for (int i = 0; i < 4; i++) r[i] = (float)a[i]; }
