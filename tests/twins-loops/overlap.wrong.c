/* Right unless the arrays meet. */
#include "../twins/twins.h"

void copy_backward(char *to, const char *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = from[i];)
  CANDIDATE(for (int i = n - 1; i >= 0; i--) to[i] = from[i];)
}

void add_hoisted(int *a, const int *b, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) a[i] += *b;)
  CANDIDATE(int k = n > 0 ? *b : 0; for (int i = 0; i < n; i++) a[i] += k;)
}

void two_at_a_time(int *to, const int *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = from[i] + 1;)
  CANDIDATE(int i = 0; for (; i + 1 < n; i += 2) { int x = from[i]; int y = from[i + 1]; to[i] = x + 1; to[i + 1] = y + 1; }
            if (i < n) to[i] = from[i] + 1;)
}

void sum_in_register(int *sum, const int *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) *sum += a[i];)
  CANDIDATE(int s = *sum; for (int i = 0; i < n; i++) s += a[i]; *sum = s;)
}

void copy_words(int *to, const int *from, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) to[i] = from[i];)
  CANDIDATE(for (int i = n; i-- > 0;) to[i] = from[i];)
}

void bound_reloaded(int *a, const int *n) {
  ORIGINAL(for (int i = 0; i < *n && i < 40; i++) a[i] = 0;)
  CANDIDATE(int k = *n; for (int i = 0; i < k && i < 40; i++) a[i] = 0;)
}

void split_loop(int *a, int *b, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { a[i] = i; b[i] = a[i] + 1; })
  CANDIDATE(for (int i = 0; i < n; i++) a[i] = i; for (int i = 0; i < n; i++) b[i] = a[i] + 1;)
}

void shift_in_place(int *a, int n) {
  ORIGINAL(for (int i = n - 1; i > 0; i--) a[i] = a[i - 1];)
  CANDIDATE(for (int i = 1; i < n; i++) a[i] = a[i - 1];)
}

void reverse_in_place(int *a, int n) {
  ORIGINAL(for (int i = 0; i < n / 2; i++) { int t = a[i]; a[i] = a[n - 1 - i]; a[n - 1 - i] = t; })
  CANDIDATE(for (int i = 0; i < n; i++) { int t = a[i]; a[i] = a[n - 1 - i]; a[n - 1 - i] = t; })
}
