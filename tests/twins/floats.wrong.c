/* Floating point: operands, widths, comparisons, conversions. */
#include "twins.h"

double subtract_swapped(double a, double b) { ORIGINAL(return a - b;) CANDIDATE(return b - a;) }

double divide_swapped(double a, double b) { ORIGINAL(return a / b;) CANDIDATE(return b / a;) }

float rounded_twice(float a, float b) { ORIGINAL(return a * b + 1.0f;) CANDIDATE(return (float)((double)a * b + 1.0);) }

double lost_precision(double a, double b) { ORIGINAL(return a + b;) CANDIDATE(return (float)(a + b);) }

double reassociated(double a, double b, double c) { ORIGINAL(return (a + b) + c;) CANDIDATE(return a + (b + c);) }

int less_or_unordered(double a, double b) { ORIGINAL(return a < b;) CANDIDATE(return !(a >= b);) }

int equal_for_not_less(double a, double b) { ORIGINAL(return a <= b;) CANDIDATE(return a < b;) }

int truncation(double x) { ORIGINAL(return (int)(x + 0.5);) CANDIDATE(return (int)x;) }

double wrong_sign(double x) { ORIGINAL(return -x;) CANDIDATE(return x;) }

double zero_minus(double x) { ORIGINAL(return -x;) CANDIDATE(return 0.0 - x;) }

double maximum(double a, double b) { ORIGINAL(return a > b ? a : b;) CANDIDATE(return b > a ? b : a;) }

float reciprocal(float x) { ORIGINAL(return x / 3.0f;) CANDIDATE(return x * (1.0f / 3.0f);) }

double integer_division(int a, int b) { ORIGINAL(return (double)a / b;) CANDIDATE(return b ? a / b : 0;) }

double wrong_conversion(unsigned x) { ORIGINAL(return x;) CANDIDATE(return (int)x;) }

int self_equal(double x) { ORIGINAL(return x == x;) CANDIDATE(return 1;) }

float mixed_width(float x) { ORIGINAL(return x * 0.1f;) CANDIDATE(return (float)(x * 0.1);) }

void wrong_lane(float *p, float a, float b) { ORIGINAL(p[0] = a; p[1] = b;) CANDIDATE(p[0] = b; p[1] = a;) }

float two_operations_in_double(float x, float y) { ORIGINAL(return (double)x * y + y;) CANDIDATE(return x * y + y;) }
