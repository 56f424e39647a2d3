void f(double a[4], double b[4], double r[4]) { for (int i = 0; i < 4; i++) r[i] = a[i] > 0 ? (b[i] > 0 ? 1.0 : 2.0) : (b[i] > 0 ? 3.0 : 4.0); }
