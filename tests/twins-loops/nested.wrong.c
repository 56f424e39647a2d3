/* Loops in loops. */
#include "../twins/twins.h"

void swapped_bounds(int *a, int n, int m) {
  ORIGINAL(for (int i = 0; i < n && i < 8; i++) for (int j = 0; j < m && j < 8; j++) a[8 * i + j] = i + j;)
  CANDIDATE(for (int i = 0; i < m && i < 8; i++) for (int j = 0; j < n && j < 8; j++) a[8 * i + j] = i + j;)
}

int triangle(const int *a, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n && i < 8; i++) for (int j = 0; j <= i; j++) s += a[8 * i + j];)
  CANDIDATE(for (int i = 0; i < n && i < 8; i++) for (int j = 0; j < i; j++) s += a[8 * i + j];)
  return s;
}

void transposed(int *a, const int *b) {
  ORIGINAL(for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) a[4 * i + j] = b[4 * j + i];)
  CANDIDATE(for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) a[4 * i + j] = b[4 * i + j];)
}

void prefix_sums(int *a, int n) {
  ORIGINAL(for (int i = 1; i < n; i++) a[i] += a[i - 1];)
  CANDIDATE(for (int i = n - 1; i > 0; i--) a[i] += a[i - 1];)
}

void bubble(int *a, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) for (int j = 0; j + 1 < n - i; j++) if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; })
  CANDIDATE(for (int i = 0; i < n - 2; i++) for (int j = 0; j + 1 < n - i; j++) if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; })
}

int row_stride(const int *a, int rows, int columns) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < rows && i < 8; i++) for (int j = 0; j < columns && j < 8; j++) s += a[i * columns + j];)
  CANDIDATE(for (int i = 0; i < rows && i < 8; i++) for (int j = 0; j < columns && j < 8; j++) s += a[i * rows + j];)
  return s;
}

long index_extension(const signed char *p, unsigned n) {
  long s = 0;
  ORIGINAL(for (unsigned i = 0; i < (n & 7); i++) s += p[(int)(i - 3)];)
  CANDIDATE(for (unsigned i = 0; i < (n & 7); i++) s += p[(long)((i - 3) & 0xffff)];)
  return s;
}

void matrix_product(int *c, const int *a, const int *b) {
  ORIGINAL(for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { int s = 0; for (int k = 0; k < 3; k++) s += a[3 * i + k] * b[3 * k + j]; c[3 * i + j] = s; })
  CANDIDATE(for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { int s = 0; for (int k = 0; k < 3; k++) s += a[3 * i + k] * b[3 * j + k]; c[3 * i + j] = s; })
}
