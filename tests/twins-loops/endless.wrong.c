/* The candidate never ends. */
#include "../twins/twins.h"

int no_progress(const int *a, int n) {
  int i = 0;
  int s = 0;
  ORIGINAL(while (i < n) { if (a[i] == 0) { i++; continue; } s ^= a[i]; i++; })
  CANDIDATE(while (i < n) { if (a[i] == 0) continue; s ^= a[i]; i++; })
  return s;
}

int stuck_search(const int *a, int n, int x) {
  int lo = 0;
  int hi = n & 31;
  ORIGINAL(while (lo < hi) { int m = (lo + hi) / 2; if (a[m] < x) lo = m + 1; else hi = m; } return lo;)
  CANDIDATE(while (lo < hi) { int m = (lo + hi) / 2; if (a[m] < x) lo = m; else hi = m; } return lo;)
}
