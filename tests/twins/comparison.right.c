/* Conditions said in another way. */
#include "twins.h"

int below_or_equal(int a, int b) { ORIGINAL(return a <= b;) CANDIDATE(return !(a > b);) }

int range_trick(int x) { ORIGINAL(return x >= 10 && x <= 20;) CANDIDATE(return (unsigned)(x - 10) <= 10;) }

int bounds_as_unsigned(int x) { ORIGINAL(return x >= 0 && x < 100;) CANDIDATE(return (unsigned)x < 100;) }

int signed_by_bias(int a, int b) {
  ORIGINAL(return a < b;)
  CANDIDATE(return ((unsigned)a ^ 0x80000000u) < ((unsigned)b ^ 0x80000000u);)
}

int de_morgan(int a, int b) { ORIGINAL(return !(a > 3 && b > 3);) CANDIDATE(return a <= 3 || b <= 3;) }

int zero_of_or(int a, int b) { ORIGINAL(return a == 0 && b == 0;) CANDIDATE(return (a | b) == 0;) }

int negative_by_shift(int x) { ORIGINAL(return x < 0;) CANDIDATE(return (int)((unsigned)x >> 31);) }

int nonzero(int x) { ORIGINAL(return x != 0;) CANDIDATE(return (int)((unsigned)(x | -x) >> 31);) }

int clamp(int x) {
  ORIGINAL(if (x < 0) return 0; if (x > 255) return 255; return x;)
  CANDIDATE(int low = x < 0 ? 0 : x; return low > 255 ? 255 : low;)
}

int difference_sign(int a, int b) { ORIGINAL(return a < b;) CANDIDATE(return (long)a - (long)b < 0;) }

int inverted(int x) { ORIGINAL(return x ? 5 : 6;) CANDIDATE(return 6 - !!x;) }

int order_of_tests(int a, int b) {
  ORIGINAL(if (a == 1) { if (b == 2) return 10; } return 20;)
  CANDIDATE(if (b == 2) { if (a == 1) return 10; } return 20;)
}
