// equivalent --fp ieee
void f(int a[4], double b[4]) { for (int i = 0; i < 4; i++) { a[i] = (int)(a[i] + b[i]); b[i] = (double)(a[i] / 2); } }
