// different
void k(double a[4]) { a[0] = a[1] * a[2] - a[3]; }
