// equivalent
__attribute__((noinline)) static int f(int x) { return x; }
struct s { char c; int i; }; void k(struct s p[2], long o[1]) { p[0].i = f(p[1].i); o[0] = 8; }
