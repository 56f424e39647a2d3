/* Right even if the pointers meet. */
#include "twins.h"

int reload(int *p, int *q) { ORIGINAL(*p = 1; *q = 2; return *p;) CANDIDATE(*p = 1; *q = 2; return p == q ? 2 : *p;) }

void same_value(char *p, char *q) { ORIGINAL(*p = 1; *q = 1;) CANDIDATE(*q = 1; *p = 1;) }

void swap(int *p, int *q) { ORIGINAL(int t = *p; *p = *q; *q = t;) CANDIDATE(int a = *p; int b = *q; *p = b; *q = a;) }

int last_store(int *p, int *q) { ORIGINAL(*p = 1; *q = 2; return *q;) CANDIDATE(*p = 1; *q = 2; return 2;) }

void disjoint_halves(int *p, int a, int b, unsigned i) {
  ORIGINAL(p[0] = a; p[1 + (i & 3)] = b;)
  CANDIDATE(p[1 + (i & 3)] = b; p[0] = a;)
}

int loads_commute(const int *p, const int *q, int *r) {
  ORIGINAL(int a = *p; int b = *q; *r = a + b; return a;)
  CANDIDATE(int b = *q; int a = *p; *r = b + a; return a;)
}

int index_alias(int *p, int i, int j) {
  ORIGINAL(p[i] = 1; p[j] = 2; return p[i];)
  CANDIDATE(p[i] = 1; p[j] = 2; return i == j ? 2 : 1;)
}

int local_is_private(int *p) {
  ORIGINAL(int local = 5; *p = 6; return local;)
  CANDIDATE(*p = 6; return 5;)
}
