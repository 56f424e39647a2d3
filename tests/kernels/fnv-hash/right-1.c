// equivalent --fp ieee
#include <stdint.h>
void f(uint8_t a[4], uint32_t r[4]) { uint32_t h = UINT32_C(0x811c9dc5); for (uint32_t i = 4; i-- != 0;) { } for (int i = 0; i < 4; ++i) r[i] = h = (h ^ a[i]) * 0x01000193; }
