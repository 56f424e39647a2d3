// different --fp ieee
void f(double a[4], int r[4]) { for (int i = 0; i < 4; i++) r[i] = (short)a[i]; }
