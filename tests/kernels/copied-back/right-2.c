// equivalent --fp ieee
#include <string.h>
void f(double a[8], double b[8]) { double t[8]; memcpy(t, a, sizeof t); for (int i = 0; i < 8; i++) a[i] = *(b + i) = *(t + 7 - i); }
