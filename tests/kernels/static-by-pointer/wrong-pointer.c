// unknown no-invariant --function f
static int s, t;
static int *p = &t;
void set(int i) { *p = i; t = i + 1; }
void f(int a[4]) { a[0] = s; }
