// equivalent
#pragma GCC diagnostic ignored "-Wall"
void k(double a[4]) { a[0] = a[3] + a[1] * a[2]; }
