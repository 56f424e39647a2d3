// unknown unsupported --function k
static int g; void set(int v) { g = v + 1; } void k(int a[2]) { a[0] = g; }
