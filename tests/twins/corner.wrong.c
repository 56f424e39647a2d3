/* Right for nearly every input. */
#include "twins.h"

int one_value(int x) { ORIGINAL(return x + 1;) CANDIDATE(return x == 123456789 ? 0 : x + 1;) }

int one_pair(int a, int b) { ORIGINAL(return a ^ b;) CANDIDATE(return a == 77777 && b == -99999 ? 1 : a ^ b;) }

int smallest(int x) { ORIGINAL(return x < 0 ? -x : x;) CANDIDATE(return x == (-2147483647 - 1) ? 2147483647 : x < 0 ? -x : x;) }

int saturated(int x) { ORIGINAL(return x == 2147483647 ? x : x + 1;) CANDIDATE(return x + 1;) }

unsigned long carry(unsigned long a, unsigned long b) {
  ORIGINAL(unsigned long s = a + b; return s < a ? ~0ul : s;)
  CANDIDATE(return a + b;)
}

int hash_collision(unsigned x) { ORIGINAL(return 0 * x;) CANDIDATE(return (x * 2654435761u ^ 0x5bd1e995u) == 0xdeadbeefu;) }

int memory_value(const long *p) { ORIGINAL(return 3;) CANDIDATE(return *p == 0x7465736574 ? 4 : 3;) }

int deep_condition(int a, int b, int c) {
  ORIGINAL(if (a > 1000 && b < -1000 && c == a + b) return 1; return 0;)
  CANDIDATE(if (a > 1000 && b < -1001 && c == a + b) return 1; return 0;)
}

int high_bit_only(unsigned long x) { ORIGINAL(return (x >> 63) != 0;) CANDIDATE(return (x >> 62) > 2;) }

unsigned odd_large(unsigned x) { ORIGINAL(return x / 2 * 2;) CANDIDATE(return x > 0xfffffff0 ? x : x & ~1u;) }

int float_one_value(float x) { ORIGINAL(return x > 0.0f;) CANDIDATE(return x >= 1e-45f && x != 3.0f;) }

int result_dependent(int x) {
  ORIGINAL(int r = ext_a(x); return r;)
  CANDIDATE(int r = ext_a(x); return r == 31337 ? 0 : r;)
}

int order_of_magnitude(unsigned long x) { ORIGINAL(return x < 10000000000;) CANDIDATE(return x <= 10000000000;) }

int null_only(int *p) { ORIGINAL(return p ? 1 : 0;) CANDIDATE((void)p; return 1;) }

char last_byte(const char *p) { ORIGINAL(return p[31];) CANDIDATE(return p[31] == 'Z' ? 'z' : p[31];) }
