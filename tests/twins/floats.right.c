/* Floating point: rewrites that keep every bit. */
#include "twins.h"

double double_it(double x) { ORIGINAL(return x * 2.0;) CANDIDATE(return x + x;) }

double halve(double x) { ORIGINAL(return x / 2.0;) CANDIDATE(return x * 0.5;) }

double commuted(double a, double b) { ORIGINAL(return a * b + 1.0;) CANDIDATE(return 1.0 + b * a;) }

double add_negated(double a, double b) { ORIGINAL(return a - b;) CANDIDATE(return a + -b;) }

int compare_swapped(double a, double b) { ORIGINAL(return a < b;) CANDIDATE(return b > a;) }

double maximum(double a, double b) { ORIGINAL(return a > b ? a : b;) CANDIDATE(if (a > b) return a; return b;) }

double conditional_constant(int c, double x) { ORIGINAL(if (c) return x + 1.0; return x + 2.0;) CANDIDATE(return x + (c ? 1.0 : 2.0);) }

float negated_twice(float x, float y) { ORIGINAL(return x * y;) CANDIDATE(float m = -x; return -m * y;) }

void stores_swapped(float *p, float a, float b) { ORIGINAL(p[0] = a; p[1] = b;) CANDIDATE(p[1] = b; p[0] = a;) }

double from_int(int x) { ORIGINAL(return (double)x + 0.5;) CANDIDATE(double d = x; return 0.5 + d;) }

float in_double(float x, float y) { ORIGINAL(return (float)((double)x / (double)y);) CANDIDATE(return x / y;) }

float literal_without_suffix(float x) { ORIGINAL(return x - 1.5;) CANDIDATE(return x - 1.5f;) }
