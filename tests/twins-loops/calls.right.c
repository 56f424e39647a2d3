/* Calls in loops, lists. */
#include "../twins/twins.h"

struct node { struct node *next; int value; };

void in_order(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { ext_a(i); ext_b(i); })
  CANDIDATE(int i = 0; while (i < n) { ext_a(i); ext_b(i++); })
}

int sum_of_results(int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += ext_a(i);)
  CANDIDATE(for (int i = 0; i < n; i++) s = ext_a(i) + s;)
  return s;
}

int list(const struct node *p) {
  int s = 0;
  ORIGINAL(for (; p; p = p->next) s += p->value;)
  CANDIDATE(while (p) { s += p->value; p = p->next; })
  return s;
}

int list_by_two(const struct node *p) {
  int s = 0;
  ORIGINAL(for (; p; p = p->next) s += p->value;)
  CANDIDATE(while (p) { s += p->value; p = p->next; if (!p) break; s += p->value; p = p->next; })
  return s;
}

int until_error(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) if (ext_a(i) < 0) return i; return n;)
  CANDIDATE(int i = 0; for (; i < n; i++) if (ext_a(i) < 0) break; return i < n ? i : n;)
}
