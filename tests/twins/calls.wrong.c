/* Calls swapped, missing, extra, with wrong arguments, in wrong arms. */
#include "twins.h"

int swapped_calls(int x) {
  ORIGINAL(int a = ext_a(x); int b = ext_b(x); return a - b;)
  CANDIDATE(int b = ext_b(x); int a = ext_a(x); return a - b;)
}

void swapped_arguments(int x, int y) { ORIGINAL(ext_two(x, y);) CANDIDATE(ext_two(y, x);) }

int missing_call(int x) { ORIGINAL(ext_a(x); return x;) CANDIDATE(return x;) }

int extra_call(int x) { CANDIDATE(ext_a(x);) return x + 1; }

int wrong_callee(int x) { ORIGINAL(return ext_a(x);) CANDIDATE(return ext_b(x);) }

int wrong_arm(int c, int x) { ORIGINAL(if (c) ext_a(x); return x;) CANDIDATE(if (!c) ext_a(x); return x;) }

int ignored_result(int x) { ORIGINAL(return ext_a(x) + 1;) CANDIDATE(ext_a(x); return x + 1;) }

int called_once(int x) {
  ORIGINAL(return ext_a(x) + ext_a(x);)
  CANDIDATE(return 2 * ext_a(x);)
}

int store_after_call(int *p) {
  ORIGINAL(*p = 1; ext_a(0); return 0;)
  CANDIDATE(ext_a(0); *p = 1; return 0;)
}

int load_over_call(int *p) {
  ORIGINAL(ext_a(0); return *p;)
  CANDIDATE(int r = *p; ext_a(0); return r;)
}

int argument_constant(int x) { ORIGINAL(return ext_a(x | 1);) CANDIDATE(return ext_a(x | 3);) }

void variadic_argument(int a, long b) { ORIGINAL(ext_many("%d %ld", a, b);) CANDIDATE(ext_many("%d %ld", a, b + 1);) }

void variadic_float(double d) { ORIGINAL(ext_many("%g", d);) CANDIDATE(ext_many("%g", -d);) }

int through_pointer(int (*f)(int), int (*g)(int), int x) { ORIGINAL(return f(x) + 1;) CANDIDATE((void)f; return g(x) + 1;) }

int tail_call(int x) { ORIGINAL(return ext_a(x + 1);) CANDIDATE(return ext_a(x) + 0;) }

int conditional_argument(int c, int x) { ORIGINAL(return ext_a(c ? x : 0);) CANDIDATE(return ext_a(c ? 0 : x);) }

int escaped_local(int x) {
  int local = x;
  ext_touch(&local);
  ORIGINAL(return local;)
  CANDIDATE(return x;)
}

int initial_value(int x) {
  int local;
  ORIGINAL(local = x;)
  CANDIDATE(local = x + 1;)
  ext_touch(&local);
  return 0;
}

long wide_argument(int x) { ORIGINAL(return ext_wide(x);) CANDIDATE(return ext_wide((unsigned)x);) }

int early_exit(int x) {
  ORIGINAL(int r = ext_a(x); if (r < 0) return r; return ext_b(r);)
  CANDIDATE(int r = ext_a(x); if (r <= 0) return r; return ext_b(r);)
}
