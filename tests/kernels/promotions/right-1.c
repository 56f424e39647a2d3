// equivalent --fp ieee
#include <stdint.h>
void f(uint8_t a[4], uint8_t b[4], int r[4]) { for (int i = 0; i < 4; i++) r[i] = ((int)a[i] + (int)b[i]) >> 1; }
