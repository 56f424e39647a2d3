// unknown unsupported --function f
static int s;
static const char *key = "ac";
static void set(int i) { s = i; }
void both(void) { set(key[1]); }
void f(int a[4]) { a[0] = s; }
