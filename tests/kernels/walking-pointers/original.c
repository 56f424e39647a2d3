void f(double a[8]) { for (int i = 1; i < 8; i++) a[i] = a[i-1] + a[i]; }
