// different
struct s { char c; int i; }; void k(struct s p[2], long o[1]) { p[0].i = p[1].i; o[0] = sizeof(struct s) + 1; }
