/* Division and remainder by other means. */
#include "twins.h"

int division_by_shift(int x) { ORIGINAL(return x / 4;) CANDIDATE(return (x + (x < 0 ? 3 : 0)) >> 2;) }

unsigned unsigned_by_shift(unsigned x) { ORIGINAL(return x / 8;) CANDIDATE(return x >> 3;) }

unsigned remainder_by_mask(unsigned x) { ORIGINAL(return x % 16;) CANDIDATE(return x & 15;) }

int remainder_by_division(int x) { ORIGINAL(return x % 10;) CANDIDATE(return x - x / 10 * 10;) }

unsigned magic(unsigned x) {
  ORIGINAL(return x / 3;)
  CANDIDATE(return (unsigned)((unsigned long)x * 0xaaaaaaab >> 33);)
}

int positive_by_unsigned(int x) {
  ORIGINAL(if (x < 0) return 0; return x / 10;)
  CANDIDATE(if (x < 0) return 0; return (int)((unsigned)x / 10);)
}

int hoisted_division(int a, int b, int c) {
  ORIGINAL(if (c) return a / b + 1; return a / b;)
  CANDIDATE(int q = a / b; return c ? q + 1 : q;)
}

int zero_check(int a, int b) {
  ORIGINAL(if (b == 0) return -1; return (int)((long)a / b);)
  CANDIDATE(return b ? (int)((long)a / b) : -1;)
}
