// equivalent --function f
static int s, t;
static int *p = &s;
void set(int i) { *p = i; t = i + 1; }
void f(int a[4]) { int old = s; a[0] = old; }
