// different --fp ieee
void f(float a[4], float b[4], float r[4]) { for (int i = 0; i < 4; i++) r[i] = a[i] * 0.1 + b[i]; }
