/* Loops and formulas as people write them first. What the faster versions need is in kernels.txt. */
#include <stddef.h>

typedef struct { float x, y, z; } vec;

void kmeans(double *d, const double *x, unsigned long n, long c)
{
    for (unsigned long i = 0; i < n; i++) {
        double t = x[i] - (double)c;
        d[i] += t * t;
    }
}

double raysphere(const double *s, long i, long j, long k, long m, double dx, double dy, double dz)
{
    double x = s[i], y = s[j], z = s[k];
    double along = dx * x + dy * y + dz * z;
    double square = x * x + y * y + z * z;
    return along * along - (square - (double)m);
}

void ex3a(int *a, const int *v, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        a[i] = *v;
}

float ex3b(const float *a, unsigned long n)
{
    float sum = 0;
    for (unsigned long i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

void ex3c(int *a, unsigned long n)
{
    int j = 0;
    for (unsigned long i = 0; i < n; i++) {
        a[i] = j;
        j += 3;
    }
}

void test1(double *a, const double *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        a[i] += b[i];
}

void test6(double *a, const double *b, unsigned long m)
{
    for (unsigned long j = 0; j < m; j++)
        for (unsigned long i = 0; i < 16; i++)
            a[i + j * 16] += b[i + j * 16];
}

void test10(int *a, const int *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        a[i] = b[i] > a[i] ? b[i] : a[i];
}

void test13(double *a, const double *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        a[i] += b[i + 1];
}

void test17(double *a, const double *b, const double *c, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        a[i] = b[i] * c[i];
}

vec add(const vec *a, const vec *b)
{
    vec r = {a->x + b->x, a->y + b->y, a->z + b->z};
    return r;
}

vec smul(const vec *a, float k)
{
    vec r = {a->x * k, a->y * k, a->z * k};
    return r;
}

float dotprod(const vec *a, const vec *b)
{
    return a->x * b->x + a->y * b->y + a->z * b->z;
}

vec delta(const vec *v1, const vec *v2, float r1, float r2)
{
    vec r = {99 * (v1->x * (r1 - 0.5f)) + 99 * (v2->x * (r2 - 0.5f)),
             99 * (v1->y * (r1 - 0.5f)) + 99 * (v2->y * (r2 - 0.5f)),
             99 * (v1->z * (r1 - 0.5f)) + 99 * (v2->z * (r2 - 0.5f))};
    return r;
}

unsigned long moss(const unsigned short *t, unsigned long n, unsigned long base, unsigned long w)
{
    unsigned long h = 0;
    for (unsigned long i = 0; i < n; i++)
        h = (h * base + t[i]) & ((1ul << w) - 1);
    return h;
}

/* Products of square matrices, written out: cell (r, k) of rows of n. */
#define AT(n, r, k) (a[n * r] * b[k] + a[n * r + 1] * b[n + k] + a[n * r + 2] * b[2 * n + k] + a[n * r + 3] * b[3 * n + k])
#define MORE6(r, k) (a[6 * r + 4] * b[24 + k] + a[6 * r + 5] * b[30 + k])
#define MORE8(r, k) (a[8 * r + 4] * b[32 + k] + a[8 * r + 5] * b[40 + k] + a[8 * r + 6] * b[48 + k] + a[8 * r + 7] * b[56 + k])
#define CELL4(r, k) c[4 * r + k] = AT(4, r, k);
#define CELL6(r, k) c[6 * r + k] = AT(6, r, k) + MORE6(r, k);
#define CELL8(r, k) c[8 * r + k] = AT(8, r, k) + MORE8(r, k);
#define ROW4(r) CELL4(r, 0) CELL4(r, 1) CELL4(r, 2) CELL4(r, 3)
#define ROW6(r) CELL6(r, 0) CELL6(r, 1) CELL6(r, 2) CELL6(r, 3) CELL6(r, 4) CELL6(r, 5)
#define ROW8(r) CELL8(r, 0) CELL8(r, 1) CELL8(r, 2) CELL8(r, 3) CELL8(r, 4) CELL8(r, 5) CELL8(r, 6) CELL8(r, 7)

void diag4(int *c, const int *a, const int *b)
{
    ROW4(0) ROW4(1) ROW4(2) ROW4(3)
}

void diag6(int *c, const int *a, const int *b)
{
    ROW6(0) ROW6(1) ROW6(2) ROW6(3) ROW6(4) ROW6(5)
}

void diag8(int *c, const int *a, const int *b)
{
    ROW8(0) ROW8(1) ROW8(2) ROW8(3) ROW8(4) ROW8(5) ROW8(6) ROW8(7)
}
