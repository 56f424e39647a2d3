/* Shifts, masks, bit fields in another way. */
#include "twins.h"

unsigned double_shift(unsigned x) { ORIGINAL(return x >> 3 >> 4;) CANDIDATE(return x >> 7;) }

unsigned mask_by_shifts(unsigned x) { ORIGINAL(return x & 0xff;) CANDIDATE(return x << 24 >> 24;) }

int test_bit(unsigned x) { ORIGINAL(return (x >> 7) & 1;) CANDIDATE(return (x & 0x80) != 0;) }

unsigned clear_bit(unsigned x, unsigned n) {
  ORIGINAL(return x & ~(1u << (n & 31));)
  CANDIDATE(return (x | 1u << (n & 31)) ^ (1u << (n & 31));)
}

unsigned align_up(unsigned x) { ORIGINAL(return (x + 15) & ~15u;) CANDIDATE(return (x + 15) / 16 * 16;) }

unsigned low_bits(unsigned x, unsigned n) {
  ORIGINAL(return x & ((1u << (n & 31)) - 1);)
  CANDIDATE(return x & ~(~0u << (n & 31));)
}

unsigned isolate(unsigned x) { ORIGINAL(return x & -x;) CANDIDATE(return x & (~x + 1);) }

struct bits {
  unsigned low : 3;
  unsigned middle : 5;
  unsigned high : 24;
};

union word {
  struct bits bits;
  unsigned whole;
};

unsigned field(struct bits b) {
  ORIGINAL(return b.middle;)
  CANDIDATE(union word w = {.bits = b}; return (w.whole >> 3) & 31;)
}

unsigned set_field(unsigned raw, unsigned v) {
  ORIGINAL(union word w = {.whole = raw}; w.bits.middle = v & 31; return w.whole;)
  CANDIDATE(return (raw & ~0xf8u) | ((v & 31) << 3);)
}

int shift_of_comparison(int a, int b) { ORIGINAL(return a < b ? 8 : 0;) CANDIDATE(return (a < b) << 3;) }
