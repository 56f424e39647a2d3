/* Null checks, pointer arithmetic, returned pointers. */
#include "twins.h"

int lost_null_check(int *p) { ORIGINAL(if (!p) return -1; return *p;) CANDIDATE(return *p;) }

int null_result(int *p) { ORIGINAL(if (!p) return -1; return *p;) CANDIDATE(if (!p) return 0; return *p;) }

int *advance(int *p, int n) { ORIGINAL(return p + n;) CANDIDATE(return (int *)((char *)p + n);) }

long distance(const int *p, const int *q) { ORIGINAL(return p - q;) CANDIDATE(return (const char *)p - (const char *)q;) }

int *chosen(int *p, int *q) { ORIGINAL(return p ? p : q;) CANDIDATE(return q ? q : p;) }

int compare_pointers(const char *p, const char *q) { ORIGINAL(return p < q;) CANDIDATE(return (long)(intptr_t)p <= (long)(intptr_t)q;) }

int double_indirection(int **p) { ORIGINAL(return **p;) CANDIDATE(return *p[1];) }

void store_through(int **p, int v) { ORIGINAL(*p[0] = v;) CANDIDATE(*p[1] = v;) }

struct list {
  int value;
  struct list *next;
};

int second(const struct list *l) {
  ORIGINAL(return l->next ? l->next->value : 0;)
  CANDIDATE(return l->next ? l->value : 0;)
}

struct list *unlink_head(struct list **head) {
  ORIGINAL(struct list *first = *head; *head = first->next; return first;)
  CANDIDATE(struct list *first = *head; *head = first->next; return *head;)
}

void insert(struct list *at, struct list *node) {
  ORIGINAL(node->next = at->next; at->next = node;)
  CANDIDATE(at->next = node; node->next = at->next;)
}
