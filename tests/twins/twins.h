/* Each function of a twin file comes in two variants. VARIANT 0 is the original, VARIANT 1 the candidate. */
#ifndef TWINS_H
#define TWINS_H

#include <stddef.h>
#include <stdint.h>

#if VARIANT == 0
#define ORIGINAL(...) __VA_ARGS__
#define CANDIDATE(...)
#else
#define ORIGINAL(...)
#define CANDIDATE(...) __VA_ARGS__
#endif

/* Unknown functions. */
int ext_a(int x);
int ext_b(int x);
void ext_touch(void *p);
void ext_two(int x, int y);
void ext_log(const char *text);
long ext_wide(long x);
int ext_many(const char *format, ...);

#endif
