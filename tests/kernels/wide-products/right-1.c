// equivalent --fp ieee
void f(long a[4], int b[4], long r[4]) { for (long i = 0, p = 1; i < 4; i++, p *= 2) r[i] = p + b[i] * a[i]; }
