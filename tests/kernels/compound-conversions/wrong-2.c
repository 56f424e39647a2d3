// different --fp ieee
void f(int a[4], double b[4]) { for (int i = 0; i < 4; i++) { a[i] += b[i]; b[i] = a[i] / 2.; } }
