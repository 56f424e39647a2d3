/* Calls: arguments, results, strings, library functions, tail calls, locals that escape, pointers to functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int get(int);
extern void put(int, const char *);
extern long fill(long *, int);
extern void log_line(const char *, ...);

int calls;

int twice(int x) { return get(x) + get(x + 1); }
int forward(int x) { calls++; return get(x * 2); }
void choose_text(int ok) { put(ok, ok ? "done" : "failed"); }
int guarded(int x) { if (x < 0) return -1; put(x, "value"); return get(x); }
long with_local(int n) { long buffer[4]; long r = fill(buffer, n); return r + buffer[0] - buffer[3]; }
int apply(int (*f)(int), int x) { return f ? f(x + 1) : x; }
void report(int id, double v) { log_line("%d: %f\n", id, v); }
char *duplicate(const char *s) { size_t n = strlen(s) + 1; char *p = malloc(n); if (p) memcpy(p, s, n); return p; }
int same(const char *a, const char *b) { return a == b || strcmp(a, b) == 0; }
void clear(long *p) { memset(p, 0, 4 * sizeof *p); }
void hello(void) { printf("hello\n"); }
void stop(int code) { if (code) { fprintf(stderr, "stop %d\n", code); exit(code); } }
int bounded(unsigned i) { if (i >= 10) abort(); return get((int)i) * 3; }
static int helper(int a, int b) { return get(a - b) ^ b; }
int use_helper(int a) { return helper(a, 7) + helper(7, a); }
int many(int a, int b, int c, int d, int e, int f, int g, int h) { return get(a + b + c + d) - get(e + f) + g * h; }
void release(void **p) { free(*p); *p = 0; }
