/* Floating point: arithmetic, comparisons, conversions, structs of doubles. */

struct vector { double x, y, z; };

double mean(double a, double b) { return (a + b) / 2; }
float blend(float a, float b, float t) { return a + (b - a) * t; }
double dot(const struct vector *a, const struct vector *b) { return a->x * b->x + a->y * b->y + a->z * b->z; }
void scale_vector(struct vector *v, double k) { v->x *= k; v->y *= k; v->z *= k; }
int less(double a, double b) { return a < b; }
double larger(double a, double b) { return a > b ? a : b; }
int truncate_to_int(double x) { return (int)x; }
double from_int(int a, long b) { return (double)a + (double)b; }
float narrow_float(double x) { return (float)x * 0.5f; }
double horner(double x) { return ((2.0 * x + 3.0) * x - 1.0) * x + 0.25; }
int same_float(float a, float b) { return a == b; }
double negate(double x) { return -x; }
