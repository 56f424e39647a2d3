// different --function f
static int s;
static const char *key = "ab";
static void set(int i) { s = i; }
void both(void) { set(key[1]); }
void f(int a[4]) { a[0] = s + 1; }
