/* Right even if the arrays meet. */
#include "../twins/twins.h"

void copy_forward(char *to, const char *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = from[i];)
  CANDIDATE(for (int i = 0; i < n; i++) *to++ = *from++;)
}

void sum_in_register(int *sum, const int *restrict a, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) *sum += a[i];)
  CANDIDATE(for (int i = 0; i < n; i++) { int s = *sum; s += a[i]; *sum = s; })
}

void shift_in_place(int *a, int n) {
  ORIGINAL(for (int i = n - 1; i > 0; i--) a[i] = a[i - 1];)
  CANDIDATE(if (n > 0) { int *p = a + n - 1; while (p != a) { *p = p[-1]; p--; } })
}

void fill(int *a, int *b, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { a[i] = 5; b[i] = 5; })
  CANDIDATE(for (int i = 0; i < n; i++) { b[i] = 5; a[i] = 5; })
}
