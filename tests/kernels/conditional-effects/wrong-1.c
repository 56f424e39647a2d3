// different --fp ieee
void f(int a[4], int b[4]) { for (int i = 0; i < 4; i++) if (b[i]++ && a[i]) a[i] = 0; }
