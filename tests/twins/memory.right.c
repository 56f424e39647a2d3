/* Stores and loads merged, split, reordered. */
#include "twins.h"

void merged(unsigned char *p) {
  ORIGINAL(p[0] = 1; p[1] = 2; p[2] = 3; p[3] = 4;)
  CANDIDATE(*(unsigned *)p = 0x04030201;)
}

void split(unsigned *p, unsigned v) {
  ORIGINAL(*p = v;)
  CANDIDATE(unsigned char *b = (unsigned char *)p; b[0] = v & 255; b[1] = v >> 8 & 255; b[2] = v >> 16 & 255; b[3] = v >> 24;)
}

unsigned little_endian(const unsigned char *p) {
  ORIGINAL(return p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24;)
  CANDIDATE(return *(const unsigned *)p;)
}

unsigned big_endian(const unsigned char *p) {
  ORIGINAL(return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3];)
  CANDIDATE(return __builtin_bswap32(*(const unsigned *)p);)
}

void independent_stores(int *p, int a, int b) { ORIGINAL(p[0] = a; p[1] = b;) CANDIDATE(p[1] = b; p[0] = a;) }

int reordered_loads(const int *p, const int *q) {
  ORIGINAL(int a = *p; int b = *q; return a - b;)
  CANDIDATE(int b = *q; int a = *p; return a - b;)
}

void overwritten(int *p, int v) { ORIGINAL(*p = 1; *p = v;) CANDIDATE(*p = v;) }

int forwarded(int *p, int v) { ORIGINAL(*p = v; return *p + 1;) CANDIDATE(*p = v; return v + 1;) }

void swap(int *p) {
  ORIGINAL(int t = p[0]; p[0] = p[1]; p[1] = t;)
  CANDIDATE(int a = p[0]; int b = p[1]; p[1] = a; p[0] = b;)
}

int local_array(unsigned i, int v) {
  ORIGINAL(int a[4] = {1, 2, 3, 4}; a[i & 3] = v; return a[2];)
  CANDIDATE(return (i & 3) == 2 ? v : 3;)
}

void redundant_store(int *p) { ORIGINAL(*p = *p | 4;) CANDIDATE(int v = *p; *p = v; *p = v | 4;) }

long pair_load(const int *p) {
  ORIGINAL(return (unsigned)p[0] | (unsigned long)(unsigned)p[1] << 32;)
  CANDIDATE(return *(const long *)p;)
}
