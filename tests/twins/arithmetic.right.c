/* Strength reduction, reassociation and other rewrites of integers. */
#include "twins.h"

int double_by_shift(int x) { ORIGINAL(return x * 2;) CANDIDATE(return (int)((unsigned)x << 1);) }

int times_nine(int x) { ORIGINAL(return x * 9;) CANDIDATE(return x * 8 + x;) }

int reassociate(int a, int b, int c) { ORIGINAL(return (a + b) + c;) CANDIDATE(return a + (c + b);) }

unsigned distribute(unsigned a, unsigned b) { ORIGINAL(return 5 * (a + b);) CANDIDATE(return 5 * a + 5 * b;) }

int subtract_by_complement(int a, int b) { ORIGINAL(return a - b;) CANDIDATE(return a + ~b + 1;) }

int or_of_disjoint(int a) { ORIGINAL(return (a & 0xf0) + 5;) CANDIDATE(return (a & 0xf0) | 5;) }

int de_morgan(int a, int b) { ORIGINAL(return ~(a & b);) CANDIDATE(return ~a | ~b;) }

int xor_as_sum(int a, int b) { ORIGINAL(return a ^ b;) CANDIDATE(return (a | b) - (a & b);) }

int add_by_parts(int a, int b) { ORIGINAL(return a + b;) CANDIDATE(return (a ^ b) + 2 * (a & b);) }

int absolute(int x) {
  ORIGINAL(return x < 0 ? -x : x;)
  CANDIDATE(int s = x >> 31; return (x ^ s) - s;)
}

int sign(int x) {
  ORIGINAL(if (x > 0) return 1; if (x < 0) return -1; return 0;)
  CANDIDATE(return (x > 0) - (x < 0);)
}

int minimum(int a, int b) {
  ORIGINAL(if (a < b) return a; return b;)
  CANDIDATE(return b ^ ((a ^ b) & -(a < b));)
}

unsigned swap_bytes(unsigned x) {
  ORIGINAL(return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;)
  CANDIDATE(return __builtin_bswap32(x);)
}

unsigned rotate(unsigned x) { ORIGINAL(return x << 5 | x >> 27;) CANDIDATE(return x >> 27 | (x & 0x7ffffff) << 5;) }

int increment_order(int *p) {
  ORIGINAL(return (*p)++;)
  CANDIDATE(int old = *p; *p = old + 1; return old;)
}
