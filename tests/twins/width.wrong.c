/* Missing extensions, truncations, signedness of narrow types. */
#include "twins.h"

long zero_for_sign(int x) { ORIGINAL(return x;) CANDIDATE(return (unsigned)x;) }

unsigned long sign_for_zero(unsigned x) { ORIGINAL(return x;) CANDIDATE(return (unsigned long)(long)(int)x;) }

int signed_char(const char *p) { ORIGINAL(return *p;) CANDIDATE(return *(const unsigned char *)p;) }

int unsigned_short(const unsigned short *p) { ORIGINAL(return *p;) CANDIDATE(return *(const short *)p;) }

long truncated_sum(int a, int b) { ORIGINAL(return (long)a + b;) CANDIDATE(return a + b;) }

long truncated_product(unsigned a, unsigned b) {
  ORIGINAL(return (long)((unsigned long)a * b);)
  CANDIDATE(return (long)(a * b);)
}

int char_truncation(int x) { ORIGINAL(return (signed char)x;) CANDIDATE(return x & 0xff;) }

int short_for_char(int x) { ORIGINAL(return (unsigned char)x;) CANDIDATE(return (unsigned short)x;) }

_Bool bool_of_byte(int x) { ORIGINAL(return x != 0;) CANDIDATE(return (x & 0xff) != 0;) }

int bool_not_normalised(int x) { ORIGINAL(return !!(x & 4);) CANDIDATE(return x & 4;) }

int high_bits(unsigned long x) { ORIGINAL(return x != 0;) CANDIDATE(return (unsigned)x != 0;) }

unsigned char wrap_byte(unsigned char a, unsigned char b) {
  ORIGINAL(return (unsigned char)((a + b) / 2);)
  CANDIDATE(return (unsigned char)((unsigned char)(a + b) / 2);)
}

int compare_bytes(char a, unsigned char b) { ORIGINAL(return a == b;) CANDIDATE(return (unsigned char)a == b;) }

long index_extension(const int *p, int i) { ORIGINAL(return p[i];) CANDIDATE(return p[(unsigned)i];) }

long shifted_too_late(int x) { ORIGINAL(return (long)x << 3;) CANDIDATE(return (long)(int)((unsigned)x << 3);) }
