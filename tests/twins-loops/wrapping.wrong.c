/* Wrong for numbers at the ends of their types. */
#include "../twins/twins.h"

unsigned long index_wraps(unsigned n, unsigned step) {
  ORIGINAL(unsigned long s = 0; unsigned i = n; for (int k = 0; k < 5; k++) { s += i; i += step; } return s;)
  CANDIDATE(unsigned long s = 0; unsigned long i = n; for (int k = 0; k < 5; k++) { s += i; i += step; } return s;)
}

int index_sum_wraps(const int *a, unsigned first, unsigned n) {
  ORIGINAL(int s = 0; for (unsigned i = 0; i < n; i++) s += a[(first + i) & 7]; return s;)
  CANDIDATE(int s = 0; for (unsigned i = 0; i < n; i++) s += a[((first & 7) + i) % 7]; return s;)
}

unsigned long distance_wraps(const unsigned char *p, unsigned from, unsigned to) {
  ORIGINAL(unsigned long s = 0; for (unsigned i = from; i != to && s < 900; i++) s += p[i & 3] + 100; return s;)
  CANDIDATE(unsigned long s = 0; for (unsigned i = from; i < to && s < 900; i++) s += p[i & 3] + 100; return s;)
}

int smallest_count(int n) {
  ORIGINAL(int s = 0; for (unsigned i = (unsigned)n; i != 0 && s < 40; i += i) s++; return s;)
  CANDIDATE(int s = 0; for (unsigned i = (unsigned)n; (int)i > 0 && s < 40; i += i) s++; return s;)
}

int negated_smallest(int n) {
  ORIGINAL(int s = 0; unsigned m = n < 0 ? 0u - (unsigned)n : (unsigned)n; while (m) { s += m & 1; m >>= 1; } return s;)
  CANDIDATE(int s = 0; int m = n < 0 ? (int)(0u - (unsigned)n) : n; while (m) { s += m & 1; m >>= 1; if (s > 40) break; } return s;)
}

int zero_count(const int *a, int n) {
  ORIGINAL(int s = 7; for (int i = 0; i < n; i++) s = a[i]; return s;)
  CANDIDATE(int s = 7; int i = 0; do s = a[i]; while (++i < n); return s;)
}

int zero_unsigned(const int *a, unsigned n) {
  ORIGINAL(int s = 0; for (unsigned i = 0; i < n; i++) s += a[i & 15]; return s;)
  CANDIDATE(int s = 0; unsigned i = 0; do s += a[i & 15]; while (++i < n); return s;)
}

int minus_one_limit(const char *p, unsigned n) {
  ORIGINAL(int s = 0; for (unsigned i = 0; i + 1 < n && i < 20; i++) s += p[i & 3]; return s;)
  CANDIDATE(int s = 0; for (unsigned i = 0; i < n - 1 && i < 20; i++) s += p[i & 3]; return s;)
}

int signed_limit(const char *p, unsigned n) {
  ORIGINAL(int s = 0; for (unsigned i = 0; i < n && i < 30; i++) s += p[i & 3]; return s;)
  CANDIDATE(int s = 0; for (int i = 0; i < (int)n && i < 30; i++) s += p[i & 3]; return s;)
}

long narrow_index(const signed char *p, long n) {
  ORIGINAL(long s = 0; for (long i = 0; i < n && i < 300; i++) s += p[i & 7] + i; return s;)
  CANDIDATE(long s = 0; for (long i = 0; i < n && i < 300; i++) s += p[i & 7] + (unsigned char)i; return s;)
}

long short_index(long n) {
  ORIGINAL(long s = 0; for (int i = 0; i < n && i < 40000; i++) s ^= i; return s;)
  CANDIDATE(long s = 0; for (int i = 0; i < n && i < 40000; i++) s ^= (short)i; return s;)
}

long sum_extended_late(const int *a, int n) {
  ORIGINAL(long s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
  CANDIDATE(unsigned s = 0; for (int i = 0; i < n; i++) s += (unsigned)a[i]; return (int)s;)
}

long sum_not_extended(const int *a, int n) {
  ORIGINAL(long s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;)
  CANDIDATE(long s = 0; for (int i = 0; i < n; i++) s += (unsigned)a[i]; return s;)
}

unsigned long product_truncated(const unsigned *a, int n) {
  ORIGINAL(unsigned long s = 1; for (int i = 0; i < n; i++) s *= a[i]; return s;)
  CANDIDATE(unsigned s = 1; for (int i = 0; i < n; i++) s *= a[i]; return s;)
}

unsigned long scaled_sum(const unsigned *a, int n) {
  ORIGINAL(unsigned long s = 0; for (int i = 0; i < n; i++) s += (unsigned long)a[i] * 8; return s;)
  CANDIDATE(unsigned long s = 0; for (int i = 0; i < n; i++) s += a[i] * 8; return s;)
}

int difference_sign(const int *a, int n) {
  ORIGINAL(int s = 0; for (int i = 1; i < n; i++) s += a[i] < a[i - 1]; return s;)
  CANDIDATE(int s = 0; for (int i = 1; i < n; i++) s += (int)((unsigned)a[i] - (unsigned)a[i - 1]) < 0; return s;)
}

unsigned shift_count(unsigned x, unsigned n) {
  ORIGINAL(for (unsigned i = 0; i < (n & 63); i++) x <<= 1; return x;)
  CANDIDATE(return x << (n & 31);)
}

int arithmetic_shift(int x, int n) {
  ORIGINAL(for (int i = 0; i < (n & 7); i++) x /= 2; return x;)
  CANDIDATE(for (int i = 0; i < (n & 7); i++) x >>= 1; return x;)
}
