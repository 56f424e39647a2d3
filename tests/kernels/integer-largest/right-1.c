// equivalent --fp ieee
void f(int a[4], int b[4], int r[4]) { for (int i = 0; i < 4; i++) r[i] = a[i] <= b[i] ? b[i] : a[i]; }
