/* The same content at another place. */
#include "twins.h"

void same_text(void) { ORIGINAL(ext_log("ready");) CANDIDATE(ext_log(&"already"[2]);) }

int table_as_code(unsigned i) {
  ORIGINAL(static const int table[4] = {10, 20, 30, 40}; return table[i & 3];)
  CANDIDATE(return (int)((i & 3) + 1) * 10;)
}

int table_as_bits(unsigned i) {
  ORIGINAL(static const unsigned char odd[8] = {0, 1, 1, 0, 1, 0, 0, 1}; return odd[i & 7];)
  CANDIDATE(return 0x96 >> (i & 7) & 1;)
}

int character(unsigned i) {
  ORIGINAL(return "0123456789abcdef"[i & 15];)
  CANDIDATE(unsigned d = i & 15; return (int)(d < 10 ? '0' + d : 'a' + d - 10);)
}

void text_by_condition(int c) {
  ORIGINAL(if (c) ext_log("on"); else ext_log("off");)
  CANDIDATE(ext_log(c ? "on" : "off");)
}

double constant_of_pool(double x) { ORIGINAL(return x * 2.5;) CANDIDATE(static const double k = 2.5; return k * x;) }

unsigned long large_constant(unsigned long x) {
  ORIGINAL(return x ^ 0x123456789abcdef0;)
  CANDIDATE(return (x ^ 0x1234567800000000) ^ 0x9abcdef0;)
}
