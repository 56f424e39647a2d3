// different
static unsigned f(void) { static unsigned c; return c++; }
static unsigned g(void) { static unsigned c; return c++; }
void k(unsigned o[2]) { o[0] = f() + 1; o[1] = g(); }
