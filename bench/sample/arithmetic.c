/* Integer arithmetic: widths, signs, divisions, shifts, conditions. */

int max3(int a, int b, int c) { int m = a > b ? a : b; return m > c ? m : c; }
int sign(int x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
unsigned absolute(int x) { return x < 0 ? -(unsigned)x : (unsigned)x; }
int average(int a, int b) { return a / 2 + b / 2 + (a % 2 + b % 2) / 2; }
unsigned round_up(unsigned x, unsigned step) { return step ? (x + step - 1) / step * step : x; }
int divide_by_seven(int x) { return x / 7; }
unsigned long modulo_thousand(unsigned long x) { return x % 1000; }
int divide_by_sixteen(int x) { return x / 16; }
long scale(long x, int k) { return x * 12 + k * 5 - 3; }
unsigned char saturate(int x) { return x < 0 ? 0 : x > 255 ? 255 : x; }
short narrow(long x) { return (short)(x >> 3); }
long widen(int x, unsigned y) { return (long)x * (long)y; }
unsigned rotate(unsigned x, unsigned n) { n &= 31; return x << n | x >> (-n & 31); }
unsigned reverse_bytes(unsigned x) { return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24; }
int is_power(unsigned x) { return x != 0 && (x & (x - 1)) == 0; }
int between(int x, int low, int high) { return low <= x && x <= high; }
int is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
unsigned pack(unsigned char a, unsigned char b, unsigned short c) { return a | b << 8 | (unsigned)c << 16; }
unsigned checksum(unsigned a, unsigned b) { unsigned s = a + b; return s + (s < a); }
int leap_year(int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; }
long choose(int c, long a, long b) { long mask = -(long)(c != 0); return (a & mask) | (b & ~mask); }
unsigned long mix(unsigned long h) { h ^= h >> 33; h *= 0xff51afd7ed558ccdul; h ^= h >> 29; return h; }
