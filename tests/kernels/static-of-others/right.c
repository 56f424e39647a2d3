// equivalent --function k
static int g; void set(int v) { g = v; } void k(int a[2]) { int t = g; a[0] = t; }
