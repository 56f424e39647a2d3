/* Loops that run once too often, once too rarely, or from the wrong place. */
#include "../twins/twins.h"

int one_too_few(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(for (int i = 0; i < n - 1; i++) s += a[i];)
  return s;
}

int one_too_many(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(for (int i = 0; i <= n; i++) s += a[i];)
  return s;
}

int wrong_start(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(for (int i = 1; i < n; i++) s += a[i];)
  return s;
}

void wrong_stride(int *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i += 2) a[i] = i;)
  CANDIDATE(for (int i = 0; i < n; i += 3) a[i] = i;)
}

int signed_bound(const int *a, unsigned n) {
  int s = 0;
  ORIGINAL(for (unsigned i = 0; i < (n & 0x80000007u) % 9; i++) s += a[i];)
  CANDIDATE(for (int i = 0; i < (int)(n & 0x80000007u) % 9; i++) s += a[i];)
  return s;
}

long unequal_for_less(long n) {
  long s = 0;
  ORIGINAL(for (long i = 0; i < n && i < 50; i += 2) s += i;)
  CANDIDATE(for (long i = 0; i != n && i < 50; i += 2) s += i;)
  return s;
}

unsigned down_to_one(const unsigned char *p, int n) {
  unsigned h = 5;
  ORIGINAL(for (int i = n - 1; i >= 0; i--) h = h * 31 + p[i];)
  CANDIDATE(for (int i = n - 1; i > 0; i--) h = h * 31 + p[i];)
  return h;
}

int do_for_while(const int *a, int n) {
  int s = 0;
  int i = 0;
  ORIGINAL(while (i < n) s += a[i++];)
  CANDIDATE(do s += a[i++]; while (i < n);)
  return s;
}

int negative_count(int n) {
  int c = 0;
  ORIGINAL(for (int i = n; i < 0; i++) c++;)
  CANDIDATE(for (int i = n; i <= -2; i++) c++;)
  return c;
}

void fill_too_wide(char *p, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) p[i] = 0;)
  CANDIDATE(for (int i = 0; i < n; i += 4) *(int *)(p + i) = 0;)
}
