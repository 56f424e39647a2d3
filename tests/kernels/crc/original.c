#include <stdint.h>
uint32_t crc(const uint8_t p[6]) { uint32_t c = ~0u; for (int i = 0; i < 6; i++) { c ^= p[i]; for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0xedb88320u : c >> 1; } return ~c; }
