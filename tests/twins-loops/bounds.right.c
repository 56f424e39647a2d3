/* The same bounds, said differently. */
#include "../twins/twins.h"

int up_and_down(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(for (int i = n; i > 0; i--) s += a[n - i];)
  return s;
}

int rotated(const int *a, int n) {
  int s = 0;
  int i = 0;
  ORIGINAL(while (i < n) s += a[i++];)
  CANDIDATE(if (i < n) do s += a[i++]; while (i < n);)
  return s;
}

void stride(int *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i += 2) a[i] = i;)
  CANDIDATE(for (long i = 0; i < n; i += 2) a[i] = (int)i;)
}

int pointers(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += a[i];)
  CANDIDATE(if (n > 0) for (const int *p = a, *e = a + n; p != e; p++) s += *p;)
  return s;
}

unsigned down(const unsigned char *p, int n) {
  unsigned h = 5;
  ORIGINAL(for (int i = n - 1; i >= 0; i--) h = h * 31 + p[i];)
  CANDIDATE(for (int i = n; i > 0; i--) h = (h << 5) - h + p[i - 1];)
  return h;
}

int closed_form(int n) {
  int c = 0;
  ORIGINAL(for (int i = n; i < 0; i++) c++;)
  CANDIDATE(if (n < 0) c = -n;)
  return c;
}
