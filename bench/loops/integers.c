/* Kernels over arrays of integers. Pointers may overlap: that every pair is equivalent does not hang on `restrict`. */

int total;

int sum(int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

void scale_add(int *a, int *b, int k, int n)
{
    for (int i = 0; i < n; i++)
        a[i] += k * b[i];
}

void conditional_update(int *a, int n, int limit)
{
    for (int i = 0; i < n; i++)
        if (a[i] > limit)
            a[i] = limit;
}

void reverse_copy(int *a, int *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[n - 1 - i];
}

void two_dimensions(int (*a)[32], int (*b)[32], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 32; j++)
            a[i][j] += b[i][j];
}

int maximum(int *a, int n)
{
    int m = a[0];
    for (int i = 1; i < n; i++)
        m = a[i] > m ? a[i] : m;
    return m;
}

unsigned minimum(unsigned *a, int n)
{
    unsigned m = ~0u;
    for (int i = 0; i < n; i++)
        if (a[i] < m)
            m = a[i];
    return m;
}

int dot(int *a, int *b, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

long mixed_widths(int *a, short *b, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        s += (long)a[i] * b[i];
    return s;
}

int strided(int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i += 2)
        s += a[i];
    return s;
}

void prefix(int *a, int n)
{
    for (int i = 1; i < n; i++)
        a[i] += a[i - 1];
}

int count(int *a, int n, int x)
{
    int c = 0;
    for (int i = 0; i < n; i++)
        c += a[i] == x;
    return c;
}

void copy_bytes(char *a, const char *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        a[i] = b[i];
}

void fill(int *a, int n, int x)
{
    for (int i = 0; i < n; i++)
        a[i] = x;
}

void count_up(int *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = i;
}

int sum_bytes(unsigned char *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

void halve_shorts(short *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = (short)(a[i] >> 1);
}

unsigned horner(unsigned *a, int n, unsigned x)
{
    unsigned s = 0;
    for (int i = 0; i < n; i++)
        s = s * x + a[i];
    return s;
}

void into_global(int *a, int n)
{
    for (int i = 0; i < n; i++)
        total ^= a[i];
}

int find(int *a, int n, int x)
{
    for (int i = 0; i < n; i++)
        if (a[i] == x)
            return i;
    return -1;
}
