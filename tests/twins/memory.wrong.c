/* Stores and loads of the wrong place, width or number. */
#include "twins.h"

void wrong_offset(int *p, int v) { ORIGINAL(p[2] = v;) CANDIDATE(p[3] = v;) }

void too_narrow(int *p, int v) { ORIGINAL(*p = v;) CANDIDATE(*(short *)p = (short)v;) }

void too_wide(short *p, short v) { ORIGINAL(p[0] = v; p[1] = 7;) CANDIDATE(*(int *)p = v;) }

void missing_store(int *p, int v) { p[0] = v; ORIGINAL(p[1] = v;) }

void extra_store(int *p, int v) { p[0] = v; CANDIDATE(p[1] = v;) }

void stores_in_wrong_order(int *p, int a, int b, unsigned i) {
  ORIGINAL(p[0] = a; p[i & 1] = b;)
  CANDIDATE(p[i & 1] = b; p[0] = a;)
}

int load_before_store(int *p) { ORIGINAL(*p = 5; return p[0];) CANDIDATE(int r = p[0]; *p = 5; return r;) }

void swap_without_temporary(int *p) {
  ORIGINAL(int t = p[0]; p[0] = p[1]; p[1] = t;)
  CANDIDATE(p[0] = p[1]; p[1] = p[0];)
}

void wrong_value(int *p, int a, int b) { ORIGINAL(p[0] = a; p[1] = b;) CANDIDATE(p[0] = b; p[1] = a;) }

void merged_wrongly(unsigned char *p) {
  ORIGINAL(p[0] = 1; p[1] = 2; p[2] = 3; p[3] = 4;)
  CANDIDATE(*(unsigned *)p = 0x01020304;)
}

unsigned big_endian(const unsigned char *p) {
  ORIGINAL(return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3];)
  CANDIDATE(return *(const unsigned *)p;)
}

void conditional_lost(int *p, int c) { ORIGINAL(if (c) *p = 0;) CANDIDATE(*p = 0;) }

int local_array(unsigned i, int v) {
  int a[4] = {1, 2, 3, 4};
  ORIGINAL(a[i & 3] = v; return a[2];)
  CANDIDATE(a[i & 1] = v; return a[2];)
}

void copy_short(int *to, const int *from) {
  ORIGINAL(to[0] = from[0]; to[1] = from[1]; to[2] = from[2];)
  CANDIDATE(to[0] = from[0]; to[1] = from[1];)
}

void stride(int *p, long n, int v) { ORIGINAL(p[n] = v;) CANDIDATE(*(int *)((char *)p + n) = v;) }
