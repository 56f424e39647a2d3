// equivalent --fp ieee
void f(double a[4], double b[4], double r[4]) { for (int i = 0; i < 4; i++) { switch ((a[i] > 0) * 2 + (b[i] > 0)) { case 3: r[i] = 1; break; case 2: r[i] = 2; break; case 1: r[i] = 3; break; default: r[i] = 4; } } }
