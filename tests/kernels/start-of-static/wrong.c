// different
static int g = 4; void k(int a[4]) { a[0] = g; }
