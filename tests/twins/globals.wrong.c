/* Globals: the wrong one, the wrong element, the wrong moment. */
#include "twins.h"

extern int alpha;
extern int beta;
extern int shared[16];
extern unsigned char flags;
extern struct {
  int head;
  int tail;
} queue;
int defined_a = 1;
int defined_b = 2;
int numbers[4] = {1, 2, 3, 4};

int wrong_global(void) { ORIGINAL(return alpha;) CANDIDATE(return beta;) }

void wrong_target(int v) { ORIGINAL(alpha = v;) CANDIDATE(beta = v;) }

int wrong_defined(void) { ORIGINAL(return defined_a;) CANDIDATE(return defined_b;) }

int wrong_element(int i) { ORIGINAL(return shared[i & 7];) CANDIDATE(return shared[(i & 7) + 8];) }

void wrong_member(int v) { ORIGINAL(queue.head = v;) CANDIDATE(queue.tail = v;) }

int *wrong_address(void) { ORIGINAL(return &shared[3];) CANDIDATE(return &shared[4];) }

void missing_update(int v) {
  ORIGINAL(alpha += v; beta -= v;)
  CANDIDATE(alpha += v;)
}

int initial_value_kept(void) { ORIGINAL(defined_a = 5; return defined_a;) CANDIDATE(return 5;) }

void set_bit(void) { ORIGINAL(flags |= 4;) CANDIDATE(flags |= 8;) }

int assumed_unchanged(int x) {
  ORIGINAL(alpha = 1; ext_a(x); return alpha;)
  CANDIDATE(alpha = 1; ext_a(x); return 1;)
}

int pointer_to_global(int *p) {
  ORIGINAL(alpha = 1; *p = 2; return alpha;)
  CANDIDATE(alpha = 1; *p = 2; return 1;)
}

int mutable_table(unsigned i) { ORIGINAL(return numbers[i & 3];) CANDIDATE(return (int)(i & 3) + 1;) }
