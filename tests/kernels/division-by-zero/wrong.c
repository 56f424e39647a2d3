// unknown no-invariant
void k(int a[4], int b[4]) { int zero = 0; if (a[0] * 7 + a[1] * 3 == 1000003) { int t = a[2] / zero; (void)t; } b[0] = a[0]; }
