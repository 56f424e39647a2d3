// different extra-update line 6 at i=4 --fp ieee
#include <stdint.h>
static uint32_t rev4(uint32_t x) { x = ((x & 0xAu) >> 1) | ((x & 0x5u) << 1); return (x >> 2 | x << 2) & 0xF; }
static void swp(double *a, double *b) { const double t = *a; *a = *b; *b = t; }
void fft(double re[16], double im[16]) {
  for (uint32_t i = 0; i < 16u; ++i) { uint32_t r = rev4(i); if (r == i) continue; swp(re + i, re + r); swp(&im[i], &im[r]); }
}
