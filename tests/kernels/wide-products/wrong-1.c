// different --fp ieee
void f(long long a[4], int b[4], long long r[4]) { for (int i = 0; i < 4; i++) r[i] = (int)a[i] * b[i] + (1LL << i); }
