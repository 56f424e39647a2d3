/* Limits that are never reached, or are meant. */
#include "../twins/twins.h"

int saturates(int n) {
  int c = 0;
  ORIGINAL(for (int i = 0; i < n; i++) if (c < 100) c++;)
  CANDIDATE(for (int i = 0; i < n && c < 100; i++) c++;)
  return c;
}

long length(const char *s) {
  ORIGINAL(long n = 0; while (s[n]) n++; return n;)
  CANDIDATE(const char *e = s; while (*e) e++; return e - s;)
}

unsigned bits(unsigned x) {
  unsigned c = 0;
  ORIGINAL(while (x) { c += x & 1; x >>= 1; })
  CANDIDATE(for (int i = 0; i < 32; i++) { c += x & 1; x >>= 1; })
  return c;
}

int halvings(int n) {
  ORIGINAL(int c = 0; while (n != 0 && c < 40) { n /= 2; c++; } return c;)
  CANDIDATE(int c = 0; while (n) { n /= 2; c++; } return c;)
}
