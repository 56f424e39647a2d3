// different --fp ieee
#include <stdint.h>
uint32_t crc(const uint8_t *p) { uint32_t c = 0xffffffffu; const uint8_t *e = p + 6; while (p < e) { c = c ^ *p++; int k = 8; do { if (c & 1u) c = 0xedb88320u ^ (c >> 1); else c >>= 1; } while (k--); } return c ^ 0xffffffffu; }
