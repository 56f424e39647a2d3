// different --fp ieee
void f(double a[4], double b[4], double r[4]) { for (int i = 0; i < 4; i++) { if (b[i] > 0) { r[i] = 3; if (a[i] > 0) r[i] = 1; } else if (a[i] >= 0) r[i] = 2; else r[i] = 4; } }
