// different --fp ordered
void f(double a[4], double b[4], double c[4]) { for (int i = 0; i < 4; i++) c[i] = b[i] + a[i]; }
