// equivalent --fp ieee
void f(int a[4], int b[4]) { for (int i = 0; i < 4; i++) { if (a[i] != 0) { int t = b[i]; b[i] = t + 1; if (t) a[i] = 0; } } }
