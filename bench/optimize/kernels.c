/* Eighteen kernels after the descriptions in "Conditionally Correct Superoptimization" (OOPSLA 2015), figure 1 and section 5. */
typedef struct { float x, y, z; } Vector;

int kmeans(int *a, int *b, long n, long m) {
    int sum = 0;
    for (long i = 0; i < n; i++) {
        int distance = a[i] - b[i];
        sum += distance * distance;
    }
    return sum;
}

double raysphere(const double *origin, double dx, double dy, double dz, double cx, double cy, double cz, double r2) {
    double ox = origin[0] - cx, oy = origin[1] - cy, oz = origin[2] - cz;
    double half = 2 * (dx * ox + dy * oy + dz * oz), rest = ox * ox + oy * oy + oz * oz - r2;
    return half * half - 4 * (dx * dx + dy * dy + dz * dz) * rest;
}

void ex3a(int *a, int *value, int n) {
    for (int i = 0; i < n; i++)
        a[i] = *value;
}

float ex3b(float *a, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

void ex3c(int *a, int n) {
    int step = 5;
    for (int i = 0; i < n; i++, step += 3)
        a[i] = i + step;
}

void test1(int *a, int *b, int n) {
    for (int i = 0; i < n; i++)
        a[i] = a[i] + b[i];
}

void test6(float *a, float *b, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 16; j++)
            a[i * 16 + j] = a[i * 16 + j] + b[j];
}

void test10(int *a, int *b, int n) {
    for (int i = 0; i < n; i++)
        if (b[i] > 0)
            a[i] = a[i] + b[i];
}

void test13(int *a, int *b, int n) {
    for (int i = 0; i < n; i++)
        a[i] = b[2 * i] - b[2 * i + 1];
}

void test17(int *a, int *b, int *c, int n) {
    for (int i = 0; i < n; i++)
        a[i] = b[i] * c[i] + 3;
}

Vector add(const Vector *a, const Vector *b) {
    Vector sum = { a->x + b->x, a->y + b->y, a->z + b->z };
    return sum;
}

Vector smul(const Vector *a, float k) {
    Vector product = { a->x * k, a->y * k, a->z * k };
    return product;
}

float dotprod(const Vector *a, const Vector *b) {
    return a->x * b->x + a->y * b->y + a->z * b->z;
}

Vector delta(const Vector *v1, const Vector *v2, float r1, float r2) {
    Vector moved = {
        99 * (v1->x * (r1 - 0.5f)) + 99 * (v2->x * (r2 - 0.5f)),
        99 * (v1->y * (r1 - 0.5f)) + 99 * (v2->y * (r2 - 0.5f)),
        99 * (v1->z * (r1 - 0.5f)) + 99 * (v2->z * (r2 - 0.5f)),
    };
    return moved;
}

#define PRODUCT(N)                                                                                                            \
    void diag##N(int *a, int *b, int *c) {                                                                                    \
        for (int i = 0; i < N; i++)                                                                                           \
            for (int j = 0; j < N; j++) {                                                                                     \
                int sum = 0;                                                                                                  \
                for (int k = 0; k < N; k++)                                                                                   \
                    sum += a[i * N + k] * b[k * N + j];                                                                       \
                c[i * N + j] = sum;                                                                                           \
            }                                                                                                                 \
    }
PRODUCT(4)
PRODUCT(6)
PRODUCT(8)

unsigned long moss(unsigned long *token, unsigned long hash, unsigned long p, unsigned long q, long n) {
    for (long i = 0; i < n; i++)
        hash = hash * 32 + token[i] - token[i - 1] * p + (hash >> 59) * q;
    return hash;
}
