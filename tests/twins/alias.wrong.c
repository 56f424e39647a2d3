/* Right unless two pointers meet. */
#include "twins.h"

int reload(int *p, int *q) { ORIGINAL(*p = 1; *q = 2; return *p;) CANDIDATE(*p = 1; *q = 2; return 1;) }

void swapped_stores(int *p, int *q) { ORIGINAL(*p = 1; *q = 2;) CANDIDATE(*q = 2; *p = 1;) }

int hoisted_load(int *p, int *q) { ORIGINAL(*q = 7; return *p;) CANDIDATE(int r = *p; *q = 7; return r;) }

void partial_overlap(int *p, char *q) { ORIGINAL(*p = 0x01010101; *q = 2;) CANDIDATE(*q = 2; *p = 0x01010101;) }

void accumulate(int *sum, const int *a) {
  ORIGINAL(*sum += a[0]; *sum += a[1];)
  CANDIDATE(*sum += a[0] + a[1];)
}

void swap_by_xor(int *p, int *q) {
  ORIGINAL(int t = *p; *p = *q; *q = t;)
  CANDIDATE(*p ^= *q; *q ^= *p; *p ^= *q;)
}

void copy_two(long *to, const long *from) {
  ORIGINAL(to[0] = from[0]; to[1] = from[1];)
  CANDIDATE(long a = from[0]; long b = from[1]; to[0] = a; to[1] = b;)
}

void dead_store(int *p, int *q) { ORIGINAL(*p = 3; int v = *q; *p = v + 1;) CANDIDATE(int v = *q; *p = v + 1;) }

int index_alias(int *p, long i, long j) { ORIGINAL(p[i] = 1; p[j] = 2; return p[i];) CANDIDATE(p[i] = 1; p[j] = 2; return 1;) }

int bytes_alias(unsigned char *p, unsigned char *q) {
  ORIGINAL(p[0] = 1; q[0] = 0; return p[0] + p[1];)
  CANDIDATE(int r = p[1]; p[0] = 1; q[0] = 0; return 1 + r;)
}
