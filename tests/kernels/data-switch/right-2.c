// equivalent --fp ieee
void f(double a[4], double b[4], double r[4]) { for (int i = 0; i < 4; i++) { int k = 0; if (a[i] > 0) k |= 1; if (b[i] > 0) k |= 2; r[i] = k == 3 ? 1 : k == 1 ? 2 : k == 2 ? 3 : 4; } }
