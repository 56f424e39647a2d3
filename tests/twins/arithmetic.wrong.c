/* Wrong constants, operands and operators. */
#include "twins.h"

int add_constant(int x) { ORIGINAL(return x + 7;) CANDIDATE(return x + 8;) }

int subtract_swapped(int a, int b) { ORIGINAL(return a - b;) CANDIDATE(return b - a;) }

int wrong_argument(int a, int b, int c) { ORIGINAL(return a * 3 + b;) CANDIDATE(return a * 3 + c;) }

unsigned wrong_scale(unsigned a, unsigned b) { ORIGINAL(return a + 4 * b;) CANDIDATE(return a + 8 * b;) }

int or_for_add(int a, int b) { ORIGINAL(return a + b;) CANDIDATE(return a | b;) }

int xor_for_or(int a, int b) { ORIGINAL(return a | b;) CANDIDATE(return a ^ b;) }

int missing_negation(int x) { ORIGINAL(return -x + 1;) CANDIDATE(return x + 1;) }

int complement_for_negation(int x) { ORIGINAL(return -x;) CANDIDATE(return ~x;) }

long product_low_half(long a, long b) { ORIGINAL(return a * b;) CANDIDATE(return (long)(int)a * (int)b;) }

int average(int a, int b) { ORIGINAL(return (int)(((long)a + b) >> 1);) CANDIDATE(return (a + b) >> 1;) }

unsigned distribute_wrong(unsigned a, unsigned b, unsigned c) {
  ORIGINAL(return a * (b + c);) CANDIDATE(return a * b + c;)
}

int square_sum(int a, int b) { ORIGINAL(return (a + b) * (a + b);) CANDIDATE(return a * a + b * b;) }

int minimum_swapped(int a, int b) { ORIGINAL(return a < b ? a : b;) CANDIDATE(return a < b ? b : a;) }

int increment_order(int *p) {
  ORIGINAL(return (*p)++;)
  CANDIDATE(return ++*p;)
}
