/* Right for a while: the difference shows after 8, 100, 256 or 1,000 turns. */
#include "../twins/twins.h"

int after_eight(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(for (int i = 0; i < n; i++) s += i > 8 ? a[i] + 1 : a[i];)
  return s;
}

int saturates_at_hundred(const unsigned char *p, int n) {
  int c = 0;
  ORIGINAL(for (int i = 0; i < n; i++) c++;)
  CANDIDATE(for (int i = 0; i < n; i++) if (c < 100) c++;)
  return c + p[0];
}

unsigned narrow_counter(unsigned n) {
  unsigned s = 0;
  ORIGINAL(unsigned i = 0; while (i < n % 300) { s += i & 7; i++; })
  CANDIDATE(unsigned char i = 0; unsigned left = n % 300; while (left--) { s += i & 7; i++; if (i == 0) s++; })
  return s;
}

int thousand(int n) {
  int c = 0;
  ORIGINAL(for (int i = 0; i < n; i++) c += 3;)
  CANDIDATE(for (int i = 0; i < n; i++) c += i < 1000 ? 3 : 2;)
  return c;
}

long length(const char *s) {
  long n = 0;
  ORIGINAL(while (s[n]) n++;)
  CANDIDATE(while (s[n] && n < 12) n++;)
  return n;
}

unsigned hash_of_twelve(const unsigned char *p, unsigned n) {
  unsigned h = 1;
  ORIGINAL(for (unsigned i = 0; i < n; i++) h = h * 17 + p[i];)
  CANDIDATE(for (unsigned i = 0; i < n; i++) h = h * 17 + p[i & 15];)
  return h;
}

void byte_index(int *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) a[i] = 7;)
  CANDIDATE(for (int i = 0; i < n; i++) a[(unsigned char)i] = 7;)
}

int smallest_int(int n) {
  ORIGINAL(int c = 0; while (n != 0 && c < 40) { n /= 2; c++; } return c;)
  CANDIDATE(int c = 0; n = n < 0 ? -n : n; while (n > 0 && c < 40) { n /= 2; c++; } return c;)
}

int not_positive(int n) {
  int c = 0;
  ORIGINAL(for (int i = 0; i < n; i++) c++;)
  CANDIDATE(c = n;)
  return c;
}

unsigned shifted_out(unsigned x) {
  unsigned c = 0;
  ORIGINAL(while (x) { c += x & 1; x >>= 1; })
  CANDIDATE(int y = (int)x; for (int i = 0; i < 31; i++) { c += y & 1; y >>= 1; })
  return c;
}
