/* Fields, returned structs, struct copies. */
#include "twins.h"

struct point {
  int x, y;
};
struct record {
  long id;
  int count;
  char tag;
  short extra;
  int *data;
};
struct triple {
  long a, b, c;
};
struct mixed {
  double d;
  long n;
};

int wrong_field(const struct record *r) { ORIGINAL(return r->count;) CANDIDATE(return r->extra;) }

void wrong_field_store(struct record *r, int v) { ORIGINAL(r->count = v;) CANDIDATE(r->id = v;) }

struct point swapped_result(int a, int b) {
  ORIGINAL(return (struct point){a, b};)
  CANDIDATE(return (struct point){b, a};)
}

struct mixed mixed_result(double d, long n) {
  ORIGINAL(return (struct mixed){d, n};)
  CANDIDATE(return (struct mixed){d, n + 1};)
}

struct triple hidden_pointer(long a) {
  ORIGINAL(return (struct triple){a, a + 1, a + 2};)
  CANDIDATE(return (struct triple){a, a + 2, a + 1};)
}

void missing_field(struct record *to, const struct record *from) {
  to->id = from->id;
  to->count = from->count;
  ORIGINAL(to->tag = from->tag;)
  to->data = from->data;
}

int by_value(struct point p) { ORIGINAL(return p.x - p.y;) CANDIDATE(return p.y - p.x;) }

long stack_struct(struct triple t) { ORIGINAL(return t.a + t.b;) CANDIDATE(return t.a + t.c;) }

int *wrong_pointer(struct record *r, int i) { ORIGINAL(return r->data + i;) CANDIDATE(return r->data + i + 1;) }

int nested_load(struct record **r) { ORIGINAL(return r[1]->data[2];) CANDIDATE(return r[2]->data[1];) }

struct point update(struct point p) {
  ORIGINAL(p.x += 1; p.y += p.x; return p;)
  CANDIDATE(p.y += p.x; p.x += 1; return p;)
}
