// different --fp ieee
#include <stdint.h>
void f(uint8_t a[4], uint8_t b[4], int r[4]) { for (int i = 0; i < 4; i++) { uint8_t t = a[i] + b[i]; r[i] = t >> 1; } }
