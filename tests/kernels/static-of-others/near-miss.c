// different --function k
static int g; void set(int v) { g = v; } void k(int a[2]) { a[0] = g + 1; }
