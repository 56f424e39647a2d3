/* Structs by fields or as a whole. */
#include "twins.h"

struct point {
  int x, y;
};
struct triple {
  long a, b, c;
};
struct mixed {
  double d;
  long n;
};

void copy_by_fields(struct triple *to, const struct triple *from) {
  ORIGINAL(struct triple t = *from; *to = t;)
  CANDIDATE(long a = from->a; long b = from->b; long c = from->c; to->a = a; to->b = b; to->c = c;)
}

struct point built(int a, int b) {
  ORIGINAL(return (struct point){a, b};)
  CANDIDATE(struct point p; p.y = b; p.x = a; return p;)
}

struct mixed mixed_result(double d, long n) {
  ORIGINAL(return (struct mixed){d, n};)
  CANDIDATE(struct mixed m; m.n = n; m.d = d; return m;)
}

struct triple hidden_pointer(long a) {
  ORIGINAL(return (struct triple){a, a + 1, a + 2};)
  CANDIDATE(struct triple t; t.c = a + 2; t.b = a + 1; t.a = t.b - 1; return t;)
}

int by_value(struct point p) { ORIGINAL(return p.x - p.y;) CANDIDATE(int x = p.x; p.x = p.y; return x - p.x;) }

long stack_struct(struct triple t) { ORIGINAL(return t.a + t.b;) CANDIDATE(long *p = &t.a; return p[1] + p[0];) }

struct point update(struct point p) {
  ORIGINAL(p.x += 1; p.y += p.x; return p;)
  CANDIDATE(return (struct point){p.x + 1, p.y + p.x + 1};)
}

int compare(struct point a, struct point b) {
  ORIGINAL(return a.x == b.x && a.y == b.y;)
  CANDIDATE(return ((a.x ^ b.x) | (a.y ^ b.y)) == 0;)
}
