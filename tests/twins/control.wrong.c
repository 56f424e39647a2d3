/* Wrong arms, cases and orders of decisions. */
#include "twins.h"

int wrong_case(int x) {
  switch (x) {
  case 1: return 10;
  case 2: return 20;
  case ORIGINAL(3) CANDIDATE(4): return 30;
  default: return 0;
  }
}

int wrong_case_value(int x) {
  switch (x) {
  case 0: return 5;
  case 1: return 8;
  case 2: ORIGINAL(return 13;) CANDIDATE(return 12;)
  case 3: return 21;
  case 4: return 34;
  case 5: return 55;
  default: return -1;
  }
}

int fall_through(int x) {
  int r = 0;
  switch (x) {
  case 1: r += 1; ORIGINAL(break;)
  case 2: r += 2; break;
  default: r = 9;
  }
  return r;
}

int missing_default(int x) {
  switch (x) {
  case 7: return 1;
  case 8: return 2;
  case 9: return 3;
  ORIGINAL(default: return 4;)
  }
  CANDIDATE(return 3;)
}

int order_of_tests(int x) {
  ORIGINAL(if (x > 10) return 1; if (x > 5) return 2; return 3;)
  CANDIDATE(if (x > 5) return 2; if (x > 10) return 1; return 3;)
}

int nested_else(int a, int b) {
  ORIGINAL(if (a) { if (b) return 1; return 2; } return 3;)
  CANDIDATE(if (a) { if (b) return 1; } else return 2; return 3;)
}

int short_circuit(int *p, int n) {
  ORIGINAL(if (n > 0 && ++*p > 3) return 1; return 0;)
  CANDIDATE(++*p; if (n > 0 && *p > 3) return 1; return 0;)
}

int lost_update(int a, int b) {
  int r = a;
  if (b) r = a + 1;
  ORIGINAL(if (b > 5) r += 2;)
  CANDIDATE(else if (b > 5) r += 2;)
  return r;
}

int early_return(int a, int *out) {
  ORIGINAL(*out = a; if (a < 0) return -1; return 0;)
  CANDIDATE(if (a < 0) return -1; *out = a; return 0;)
}

unsigned large_switch(unsigned x) {
  switch (x) {
  case 10: return 3;
  case 11: return 1;
  case 12: return 4;
  case 13: return 1;
  case 14: return 5;
  case 15: ORIGINAL(return 9;) CANDIDATE(return 8;)
  case 16: return 2;
  case 17: return 6;
  case 200: return 7;
  case 300: return 77;
  default: return x;
  }
}
