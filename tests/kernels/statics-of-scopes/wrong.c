// unknown no-invariant
static unsigned f(void) { static unsigned c; return c++; }
static unsigned g(void) { static unsigned c; unsigned t = c; c += 7; return t; }
void k(unsigned o[2]) { o[0] = f(); o[1] = g(); }
