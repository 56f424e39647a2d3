/* Strings, tables, constants in read-only memory. */
#include "twins.h"

void wrong_text(void) { ORIGINAL(ext_log("ready");) CANDIDATE(ext_log("reads");) }

void truncated_text(void) { ORIGINAL(ext_log("ready");) CANDIDATE(ext_log("read");) }

void suffix(void) { ORIGINAL(ext_log("already");) CANDIDATE(ext_log("ready");) }

const char *returned_text(int c) {
  ORIGINAL(return c ? "yes" : "no";)
  CANDIDATE(return c ? "no" : "yes";)
}

int table_entry(unsigned i) {
  static const int table[8] = {1, 1, 2, 3, 5, 8, ORIGINAL(13) CANDIDATE(14), 21};
  return table[i & 7];
}

int table_index(unsigned i) {
  static const signed char table[4] = {-1, 0, 1, 2};
  ORIGINAL(return table[i & 3];)
  CANDIDATE(return table[i & 1];)
}

int character(unsigned i) { ORIGINAL(return "0123456789abcdef"[i & 15];) CANDIDATE(return "0123456789ABCDEF"[i & 15];) }

const char *table_of_texts(unsigned i) {
  static const char *const names[4] = {"north", "east", ORIGINAL("south", "west") CANDIDATE("west", "south")};
  return names[i & 3];
}

double constant_of_pool(double x) { ORIGINAL(return x * 3.14159;) CANDIDATE(return x * 3.14158;) }

unsigned long large_constant(unsigned long x) { ORIGINAL(return x ^ 0x123456789abcdef0;) CANDIDATE(return x ^ 0x123456789abcdef1;) }

void format(int x) { ORIGINAL(ext_many("%d\n", x);) CANDIDATE(ext_many("%u\n", x);) }
