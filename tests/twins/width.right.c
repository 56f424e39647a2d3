/* Extensions and truncations done in another way. */
#include "twins.h"

long sign_extend_by_shift(int x) {
  ORIGINAL(return x;)
  CANDIDATE(return (long)((unsigned long)(unsigned)x << 32) >> 32;)
}

unsigned long zero_extend_by_mask(int x) { ORIGINAL(return (unsigned)x;) CANDIDATE(return (unsigned long)x & 0xffffffff;) }

int char_truncation(int x) { ORIGINAL(return (signed char)x;) CANDIDATE(return ((x & 0xff) ^ 0x80) - 0x80;) }

int truncate_once(int a, int b) {
  ORIGINAL(return (unsigned char)((unsigned char)a + (unsigned char)b);)
  CANDIDATE(return (a + b) & 0xff;)
}

unsigned char narrow_argument(unsigned char c) {
  ORIGINAL(if (c >= 'a' && c <= 'z') return (unsigned char)(c - 32); return c;)
  CANDIDATE(return (unsigned char)(c - ((unsigned)(c - 'a') < 26u ? 32 : 0));)
}

_Bool bool_of_word(int x) { ORIGINAL(return x != 0;) CANDIDATE(return (_Bool)x;) }

int bool_argument(_Bool b) { ORIGINAL(return b ? 1 : 0;) CANDIDATE(return b;) }

int signed_char(const char *p) { ORIGINAL(return *p;) CANDIDATE(return (int)(signed char)*(const unsigned char *)p;) }

int wide_then_narrow(long a, long b) { ORIGINAL(return (int)(a + b);) CANDIDATE(return (int)a + (int)b;) }

short wrap_short(short a, short b) { ORIGINAL(return (short)(a * b);) CANDIDATE(return (short)((unsigned short)a * (unsigned)(unsigned short)b);) }
