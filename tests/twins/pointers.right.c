/* Pointers in another way. */
#include "twins.h"

int null_check(int *p) { ORIGINAL(if (!p) return -1; return *p;) CANDIDATE(if (p) return *p; return -1;) }

int late_null_check(int *p) { ORIGINAL(int v = *p; if (!p) return -1; return v;) CANDIDATE(return *p;) }

int *advance(int *p, int n) { ORIGINAL(return p + n;) CANDIDATE(return (int *)((char *)p + (long)n * 4);) }

long distance(const int *p, const int *q) { ORIGINAL(return p - q;) CANDIDATE(return ((const char *)p - (const char *)q) >> 2;) }

int *chosen(int *p, int *q) { ORIGINAL(return p ? p : q;) CANDIDATE(if (p == NULL) return q; return p;) }

struct list {
  int value;
  struct list *next;
};

int second(const struct list *l) {
  ORIGINAL(return l->next ? l->next->value : 0;)
  CANDIDATE(const struct list *n = l->next; if (n == NULL) return 0; return n->value;)
}

void insert(struct list *at, struct list *node) {
  ORIGINAL(node->next = at->next; at->next = node;)
  CANDIDATE(struct list *next = at->next; node->next = next; at->next = node;)
}
