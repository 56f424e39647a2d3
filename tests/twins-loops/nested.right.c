/* Loops in loops. */
#include "../twins/twins.h"

void fill(int *a, int n, int m) {
  ORIGINAL(for (int i = 0; i < n && i < 8; i++) for (int j = 0; j < m && j < 8; j++) a[8 * i + j] = i + j;)
  CANDIDATE(for (int i = 0; i < n && i < 8; i++) { int *row = a + 8 * i; for (int j = 0; j < m && j < 8; j++) row[j] = i + j; })
}

int triangle(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n && i < 8; i++) for (int j = 0; j <= i; j++) s += a[8 * i + j];)
  CANDIDATE(for (int i = 0; i < n && i < 8; i++) for (int j = 0; j < i + 1; j++) s += a[8 * i + j];)
  return s;
}

void prefix_sums(int *a, int n) {
  ORIGINAL(for (int i = 1; i < n; i++) a[i] += a[i - 1];)
  CANDIDATE(for (int i = 0; i + 1 < n; i++) a[i + 1] += a[i];)
}
