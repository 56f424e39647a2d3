/* The same calls with the same arguments in the same order. */
#include "twins.h"

int merged_arms(int c, int x) {
  ORIGINAL(if (c) return ext_a(x); return ext_a(x + 1);)
  CANDIDATE(return ext_a(c ? x : x + 1);)
}

int tail_call(int x) {
  ORIGINAL(return ext_a(x + 1);)
  CANDIDATE(int r = ext_a(1 + x); return r;)
}

int common_tail(int c, int x) {
  ORIGINAL(if (c) { ext_a(1); ext_b(x); } else { ext_a(2); ext_b(x); } return 0;)
  CANDIDATE(ext_a(c ? 1 : 2); ext_b(x); return 0;)
}

int arithmetic_around(int x) {
  ORIGINAL(int before = x * 2; int r = ext_a(x); return r + before;)
  CANDIDATE(int r = ext_a(x); return r + (int)((unsigned)x << 1);)
}

int split_condition(int a, int b) {
  ORIGINAL(if (a && b) ext_a(1); return 0;)
  CANDIDATE(if (a) { if (b) ext_a(1); } return 0;)
}

int store_before_call(int *p, int *q) {
  ORIGINAL(*p = 1; ext_a(0); *q = 2; return 0;)
  CANDIDATE(*p = 3; *p = 1; ext_a(0); *q = 2; return 0;)
}

void variadic(int a, long b) { ORIGINAL(ext_many("%d %ld", a + 1, b);) CANDIDATE(ext_many("%d %ld", 1 + a, b);) }

int escaped_local(int x) {
  ORIGINAL(int local = x; ext_touch(&local); return local;)
  CANDIDATE(int other = x; int *p = &other; ext_touch(p); return *p;)
}

int early_exit(int x) {
  ORIGINAL(int r = ext_a(x); if (r < 0) return r; return ext_b(r);)
  CANDIDATE(int r = ext_a(x); if (r >= 0) r = ext_b(r); return r;)
}

int through_pointer(int (*f)(int), int x) { ORIGINAL(return f(x) + 1;) CANDIDATE(int r = (*f)(x); return 1 + r;) }

int unused_result(int x) { ORIGINAL(int r = ext_a(x); (void)r; return x;) CANDIDATE(ext_a(x); return x;) }
