/* The same decisions in another order or shape. */
#include "twins.h"

int switch_as_chain(int x) {
  ORIGINAL(switch (x) { case 1: return 10; case 2: return 20; case 3: return 30; default: return 0; })
  CANDIDATE(if (x == 3) return 30; if (x == 2) return 20; if (x == 1) return 10; return 0;)
}

int switch_as_table(unsigned x) {
  ORIGINAL(switch (x) { case 0: return 5; case 1: return 8; case 2: return 13; case 3: return 21; default: return -1; })
  CANDIDATE(static const int table[] = {5, 8, 13, 21}; return x < 4 ? table[x] : -1;)
}

int if_conversion(int a, int b, int c) {
  ORIGINAL(int r; if (c) r = a; else r = b; return r;)
  CANDIDATE(int m = -(c != 0); return (a & m) | (b & ~m);)
}

int hoisted(int a, int b, int c) {
  ORIGINAL(if (c) return a * b + 1; return a * b - 1;)
  CANDIDATE(int p = a * b; return c ? p + 1 : p - 1;)
}

int disjoint_tests_swapped(int x) {
  ORIGINAL(if (x > 10) return 1; if (x < 5) return 2; return 3;)
  CANDIDATE(if (x < 5) return 2; if (x > 10) return 1; return 3;)
}

int goto_shape(int a, int b) {
  ORIGINAL(if (a && b) return 1; return 0;)
  CANDIDATE(if (!a) goto no; if (b) return 1; no: return 0;)
}

void store_in_both_arms(int c, int *p, int a, int b) {
  ORIGINAL(if (c) *p = a; else *p = b;)
  CANDIDATE(*p = c ? a : b;)
}

int dead_branch(int x) {
  ORIGINAL(if (x > 5 && x < 3) return 100; return x;)
  CANDIDATE(return x;)
}

int known_condition(int x) {
  ORIGINAL(if (x > 5) { if (x > 0) return 1; return 2; } return 3;)
  CANDIDATE(return x > 5 ? 1 : 3;)
}

unsigned set_of_values(unsigned x) {
  ORIGINAL(return x == 1 || x == 3 || x == 4 || x == 9;)
  CANDIDATE(return x < 10 && (0x21a >> x & 1);)
}
