/* Shifts, masks, bit fields. */
#include "twins.h"

int arithmetic_for_logical(int x) { ORIGINAL(return (int)((unsigned)x >> 4);) CANDIDATE(return x >> 4;) }

unsigned shift_amount(unsigned x) { ORIGINAL(return x >> 3;) CANDIDATE(return x >> 4;) }

unsigned mask_off_by_one(unsigned x) { ORIGINAL(return x & 0xff;) CANDIDATE(return x & 0xfe;) }

unsigned mask_too_wide(unsigned x) { ORIGINAL(return x & 0xffff;) CANDIDATE(return x & 0x1ffff;) }

unsigned rotate_wrong(unsigned x) { ORIGINAL(return x << 5 | x >> 27;) CANDIDATE(return x << 5 | x >> 26;) }

int test_wrong_bit(unsigned x) { ORIGINAL(return (x >> 7) & 1;) CANDIDATE(return (x >> 8) & 1;) }

unsigned clear_bit(unsigned x, unsigned n) { ORIGINAL(return x & ~(1u << (n & 31));) CANDIDATE(return x ^ (1u << (n & 31));) }

unsigned low_bits(unsigned x, unsigned n) {
  ORIGINAL(return x & ((1u << (n & 31)) - 1);)
  CANDIDATE(return x & ((2u << (n & 31)) - 1);)
}

unsigned long shift_in_int(unsigned n) {
  ORIGINAL(return 1ul << (n & 63);)
  CANDIDATE(return 1u << (n & 31);)
}

int power_of_two(unsigned x) { ORIGINAL(return x != 0 && (x & (x - 1)) == 0;) CANDIDATE(return (x & (x - 1)) == 0;) }

unsigned align_up(unsigned x) { ORIGINAL(return (x + 15) & ~15u;) CANDIDATE(return (x + 16) & ~15u;) }

struct bits {
  unsigned low : 3;
  unsigned middle : 5;
  unsigned high : 24;
};

unsigned field_width(const struct bits *b) { ORIGINAL(return b->middle;) CANDIDATE(return (*(const unsigned *)b >> 3) & 15;) }

void set_field(struct bits *b, unsigned v) {
  ORIGINAL(b->middle = v & 31;)
  CANDIDATE(*(unsigned *)b = (*(unsigned *)b & ~0xf0u) | ((v & 31) << 3);)
}
