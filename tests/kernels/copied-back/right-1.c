// equivalent --fp ieee
#include <string.h>
void f(double a[8], double b[8]) { for (int i = 0; i < 8; i++) b[i] = a[7 - i]; memcpy(a, b, sizeof(double) * 8); }
