/* Calls in loops, lists. */
#include "../twins/twins.h"

struct node { struct node *next; int value; };

void swapped_calls(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { ext_a(i); ext_b(i); })
  CANDIDATE(for (int i = 0; i < n; i++) { ext_b(i); ext_a(i); })
}

void split_calls(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { ext_a(i); ext_b(i); })
  CANDIDATE(for (int i = 0; i < n; i++) ext_a(i); for (int i = 0; i < n; i++) ext_b(i);)
}

void wrong_argument(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) ext_a(i);)
  CANDIDATE(for (int i = n; i > 0; i--) ext_a(i);)
}

int ignored_result(int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) s += ext_a(s);)
  CANDIDATE(for (int i = 0; i < n; i++) s += ext_a(i);)
  return s;
}

int hoisted_over_call(const int *p, int n) {
  int s = 0;
  ORIGINAL(for (int i = 0; i < n; i++) { ext_a(i); s += *p; })
  CANDIDATE(int k = n > 0 ? *p : 0; for (int i = 0; i < n; i++) { ext_a(i); s += k; })
  return s;
}

int skip_last_node(const struct node *p) {
  int s = 0;
  ORIGINAL(for (; p; p = p->next) s += p->value;)
  CANDIDATE(for (; p && p->next; p = p->next) s += p->value;)
  return s;
}

int count_from_one(const struct node *p) {
  ORIGINAL(int n = 0; for (; p; p = p->next) n++; return n;)
  CANDIDATE(int n = 1; for (; p && p->next; p = p->next) n++; return n;)
}

void set_all(struct node *p, int x) {
  ORIGINAL(for (; p; p = p->next) p->value = x;)
  CANDIDATE(for (; p; p = p->next) p->value = x++;)
}

int until_error(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) if (ext_a(i) < 0) return i; return n;)
  CANDIDATE(for (int i = 0; i < n; i++) if (ext_a(i) <= 0) return i; return n;)
}

const struct node *find_node(const struct node *p, int x) {
  ORIGINAL(while (p && p->value != x) p = p->next; return p;)
  CANDIDATE(while (p && p->next && p->value != x) p = p->next; return p;)
}
