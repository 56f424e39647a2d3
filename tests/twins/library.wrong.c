/* Calls of functions that the library table knows. */
#include "twins.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wrong_line(void) { ORIGINAL(printf("done\n");) CANDIDATE(puts("dona");) }

void missing_newline(void) { ORIGINAL(puts("done");) CANDIDATE(fputs("done", stdout);) }

void wrong_character(void) { ORIGINAL(putchar('a');) CANDIDATE(putchar('b');) }

void wrong_stream(void) { ORIGINAL(fputs("bad", stderr);) CANDIDATE(fputs("bad", stdout);) }

void wrong_length(void *to, const void *from) { ORIGINAL(memcpy(to, from, 16);) CANDIDATE(memcpy(to, from, 12);) }

void wrong_fill(void *p) { ORIGINAL(memset(p, 0, 8);) CANDIDATE(memset(p, 1, 8);) }

void fill_length(void *p, size_t n) { ORIGINAL(memset(p, 0, n);) CANDIDATE(memset(p, 0, n + 1);) }

size_t wrong_string(const char *a, const char *b) { ORIGINAL(return strlen(a);) CANDIDATE(return strlen(b);) }

int equal_inverted(const char *a, const char *b) { ORIGINAL(return strcmp(a, b) == 0;) CANDIDATE(return strcmp(a, b) != 0;) }

int compare_swapped(const char *a, const char *b) { ORIGINAL(return strcmp(a, b) < 0;) CANDIDATE(return strcmp(b, a) < 0;) }

int compare_length(const void *a, const void *b) { ORIGINAL(return memcmp(a, b, 8) == 0;) CANDIDATE(return memcmp(a, b, 7) == 0;) }

char *search_other(const char *s) { ORIGINAL(return strchr(s, '.');) CANDIDATE(return strrchr(s, '.');) }

void *allocation_size(size_t n) { ORIGINAL(return malloc(n * 4);) CANDIDATE(return malloc(n);) }

void freed_other(void *p, void *q) { ORIGINAL(free(p); (void)q;) CANDIDATE(free(q); (void)p;) }

void *unchecked_allocation(size_t n) {
  ORIGINAL(int *p = malloc(n); if (p) *p = 0; return p;)
  CANDIDATE(int *p = malloc(n); *p = 0; return p;)
}

void copied_literal(char *to) { ORIGINAL(strcpy(to, "abc");) CANDIDATE(memcpy(to, "abc", 3);) }

int absolute(int x) { ORIGINAL(return abs(x);) CANDIDATE(return x;) }

void exit_status(int c) { ORIGINAL(if (c) exit(1); ext_a(0);) CANDIDATE(if (c) exit(2); ext_a(0);) }

int stale_length(char *s) {
  ORIGINAL(s[0] = 0; return (int)strlen(s);)
  CANDIDATE(int n = (int)strlen(s); s[0] = 0; return n;)
}
