/* Calls of library functions that compilers exchange. */
#include "twins.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void line(void) { ORIGINAL(printf("done\n");) CANDIDATE(puts("done");) }

void character(void) { ORIGINAL(printf("x");) CANDIDATE(putchar('x');) }

void argument_line(const char *s) { ORIGINAL(printf("%s\n", s);) CANDIDATE(puts(s);) }

void stream_text(FILE *f) { ORIGINAL(fprintf(f, "bad");) CANDIDATE(fwrite("bad", 1, 3, f);) }

void copy_as_moves(void *to, const void *from) {
  ORIGINAL(memcpy(to, from, 16);)
  CANDIDATE(long a = ((const long *)from)[0]; long b = ((const long *)from)[1]; ((long *)to)[0] = a; ((long *)to)[1] = b;)
}

void fill_as_moves(long *p) { ORIGINAL(memset(p, 0, 24);) CANDIDATE(p[0] = 0; p[1] = 0; p[2] = 0;) }

size_t length_twice(const char *s) { ORIGINAL(return strlen(s) + strlen(s);) CANDIDATE(return 2 * strlen(s);) }

int equal(const char *a, const char *b) { ORIGINAL(return strcmp(a, b) == 0;) CANDIDATE(return !strcmp(a, b);) }

void copied_literal(char *to) { ORIGINAL(strcpy(to, "abc");) CANDIDATE(memcpy(to, "abc", 4);) }

int absolute(int x) { ORIGINAL(return abs(x);) CANDIDATE(return x < 0 ? -x : x;) }

int *fresh_object(int *p) {
  ORIGINAL(int *q = malloc(4); if (!q) return q; *q = 1; *p = 2; *q += *p; return q;)
  CANDIDATE(int *q = malloc(4); if (!q) return q; *p = 2; *q = 3; return q;)
}

size_t literal_length(int x) { ORIGINAL(return strlen("four") + (size_t)x;) CANDIDATE(return 4 + (size_t)x;) }
