// different --fp ieee
#include <stdint.h>
void f(uint8_t a[4], uint32_t r[4]) { uint32_t h = UINT32_C(0x811c9dc5); for (int i = 0; i < 4; ++i) r[i] = h = (h * 0x01000193) ^ a[i]; }
