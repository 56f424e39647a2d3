// equivalent --fp ieee
void f(float a[4], float b[4], float r[4]) { for (int i = 0; i < 4; i++) r[i] = b[i] + a[i] * (float)0.1; }
