/* Wrong conditions. */
#include "twins.h"

int below_or_equal(int a, int b) { ORIGINAL(return a < b;) CANDIDATE(return a <= b;) }

int unsigned_for_signed(int a, int b) { ORIGINAL(return a < b;) CANDIDATE(return (unsigned)a < (unsigned)b;) }

int signed_for_unsigned(unsigned long a, unsigned long b) { ORIGINAL(return a > b;) CANDIDATE(return (long)a > (long)b;) }

int difference_sign(int a, int b) { ORIGINAL(return a < b;) CANDIDATE(return a - b < 0;) }

int wrong_bound(int x) { ORIGINAL(return x >= 0 && x < 100;) CANDIDATE(return x >= 0 && x <= 100;) }

int range_trick_wrong(int x) { ORIGINAL(return x >= 10 && x <= 20;) CANDIDATE(return (unsigned)(x - 10) < 10;) }

int and_for_or(int a, int b) { ORIGINAL(return a == 0 || b == 0;) CANDIDATE(return a == 0 && b == 0;) }

int de_morgan_wrong(int a, int b) { ORIGINAL(return !(a > 3 && b > 3);) CANDIDATE(return a <= 3 && b <= 3;) }

int zero_of_sum(int a, int b) { ORIGINAL(return a == 0 && b == 0;) CANDIDATE(return a + b == 0;) }

int zero_of_product(int a, int b) { ORIGINAL(return a == 0 || b == 0;) CANDIDATE(return a * b == 0;) }

int compare_low_half(long a, long b) { ORIGINAL(return a == b;) CANDIDATE(return (int)a == (int)b;) }

int inverted(int x) { ORIGINAL(return x ? 5 : 6;) CANDIDATE(return x ? 6 : 5;) }

int clamp_wrong(int x) {
  ORIGINAL(if (x < 0) return 0; if (x > 255) return 255; return x;)
  CANDIDATE(if (x < 0) return 0; if (x > 255) return 256; return x;)
}

int three_way(int a, int b) {
  ORIGINAL(return a < b ? -1 : a > b;)
  CANDIDATE(return a <= b ? -1 : 1;)
}
