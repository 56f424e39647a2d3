/* Division and remainder: rounding, sign, faults. */
#include "twins.h"

int shift_for_division(int x) { ORIGINAL(return x / 4;) CANDIDATE(return x >> 2;) }

int mask_for_remainder(int x) { ORIGINAL(return x % 8;) CANDIDATE(return x & 7;) }

int unsigned_division(int x) { ORIGINAL(return x / 10;) CANDIDATE(return (int)((unsigned)x / 10);) }

unsigned wrong_divisor(unsigned x) { ORIGINAL(return x / 10;) CANDIDATE(return x / 11;) }

unsigned quotient_for_remainder(unsigned a) { ORIGINAL(return a % 10;) CANDIDATE(return a / 10;) }

int sign_of_remainder(int a) { ORIGINAL(return a % 7;) CANDIDATE(int r = a % 7; return r < 0 ? r + 7 : r;) }

int rounded(int x) { ORIGINAL(return (x + 1) / 2;) CANDIDATE(return x / 2 + (x & 1);) }

unsigned ceiling(unsigned x) { ORIGINAL(return (x + 9) / 10;) CANDIDATE(return x / 10 + 1;) }

int negated_divisor(int x) { ORIGINAL(return x / -3;) CANDIDATE(return x / 3;) }

unsigned magic_wrong(unsigned x) {
  ORIGINAL(return x / 3;)
  CANDIDATE(return (unsigned)((unsigned long)x * 0xaaaaaaaa >> 33);)
}

int halves(int a, int b) { ORIGINAL(return (a + b) / 2;) CANDIDATE(return a / 2 + b / 2;) }

int divide_before_multiply(int x) { ORIGINAL(return x * 3 / 2;) CANDIDATE(return x / 2 * 3;) }

int missing_zero_check(int a, int b) {
  ORIGINAL(if (b == 0) return -1; return (int)((long)a / b);)
  CANDIDATE(return (int)((long)a / b);)
}
