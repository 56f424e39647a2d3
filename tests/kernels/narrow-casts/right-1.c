// equivalent --fp ieee
void f(double a[4], int r[4]) { for (int i = 3; i >= 0; i--) { int t = a[i]; r[i] = t; } }
