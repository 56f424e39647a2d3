// different --function f
static const int table[2] = {1, 2};
static int start = 5;
int scale = 3;
static int kept;
void prepare(void) { kept = scale * (table[1] + start); }
void f(int a[2]) { a[0] = kept + 1; }
