/* Globals: distinct ones do not meet, the same one does. */
#include "twins.h"

extern int alpha;
extern int beta;
extern int shared[16];
int defined_a = 1;
int defined_b = 2;
static int counter;

void distinct_stores(int v) { ORIGINAL(defined_a = v; defined_b = 2;) CANDIDATE(defined_b = 2; defined_a = v;) }

int distinct_forward(void) { ORIGINAL(defined_a = 1; defined_b = 2; return defined_a;) CANDIDATE(defined_a = 1; defined_b = 2; return 1;) }

int cached(int v) { ORIGINAL(alpha = v; alpha += 1; return alpha;) CANDIDATE(return alpha = v + 1;) }

int element_address(int i) { ORIGINAL(return shared[i & 7];) CANDIDATE(return *(shared + (i & 7));) }

int counted(void) { ORIGINAL(return ++counter;) CANDIDATE(int n = counter + 1; counter = n; return n;) }

int reread(void) { ORIGINAL(return alpha * alpha;) CANDIDATE(int a = alpha; return a * a;) }

void masked(void) { ORIGINAL(beta &= ~6;) CANDIDATE(int v = beta; v &= ~2; v &= ~4; beta = v;) }
