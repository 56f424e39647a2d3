/* A second set of kernels over arrays: other types, widths and shapes of loops than the first. */

unsigned char table[256];
short samples[512];
double weights[64];
unsigned histogram[128];
long sums[64];

void brighten(unsigned char *p, int n, int by)
{
    for (int i = 0; i < n; i++) {
        int v = p[i] + by;
        p[i] = v > 255 ? 255 : v;
    }
}

void invert_bytes(unsigned char *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        p[i] = ~p[i];
}

unsigned count_zero_bytes(const unsigned char *p, unsigned n)
{
    unsigned c = 0;
    for (unsigned i = 0; i < n; i++)
        if (p[i] == 0)
            c++;
    return c;
}

void add_shorts(short *a, const short *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i] + b[i];
}

short largest_short(const short *a, long n)
{
    short m = -32768;
    for (long i = 0; i < n; i++)
        if (a[i] > m)
            m = a[i];
    return m;
}

long sum_of_squares(const short *a, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * a[i];
    return s;
}

void xor_words(unsigned *a, unsigned key, unsigned long n)
{
    unsigned *end = a + n;
    while (a != end)
        *a++ ^= key;
}

unsigned or_all(const unsigned *a, int n)
{
    unsigned r = 0;
    while (n-- > 0)
        r |= *a++;
    return r;
}

long sum_long(const long *a, long n)
{
    long s = 0;
    for (long i = n - 1; i >= 0; i--)
        s += a[i];
    return s;
}

void absolute(long *a, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] < 0)
            a[i] = -a[i];
}

void sums_and_differences(int *a, int *b, int n)
{
    for (int i = 0; i < n; i++) {
        int x = a[i], y = b[i];
        a[i] = x + y;
        b[i] = x - y;
    }
}

void clear_table(void)
{
    for (int i = 0; i < 256; i++)
        table[i] = i ^ 0x55;
}

int sum_samples(void)
{
    int s = 0;
    for (int i = 0; i < 512; i++)
        s += samples[i];
    return s;
}

void scale_weights(double by)
{
    for (int i = 0; i < 64; i++)
        weights[i] *= by;
}

void bump_histogram(unsigned by)
{
    for (int i = 127; i >= 0; i--)
        histogram[i] += by;
}

void accumulate(const int *a, int n)
{
    if (n > 64)
        n = 64;
    for (int i = 0; i < n; i++)
        sums[i] += a[i];
}

void add_floats(float *out, const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i] + b[i];
}

void square_doubles(double *a, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        a[i] = a[i] * a[i];
}

void to_float(float *out, const int *a, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i];
}

float largest_float(const float *a, int n)
{
    float m = a[0];
    for (int i = 1; i < n; i++)
        m = a[i] > m ? a[i] : m;
    return m;
}

void average_neighbours(int *out, const int *a, int n)
{
    for (int i = 0; i + 1 < n; i++)
        out[i] = (a[i] + a[i + 1]) >> 1;
}

void select_by_sign(int *out, const int *a, int x, int y, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i] < 0 ? x : y;
}

void widen_bytes(unsigned short *out, const unsigned char *in, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = in[i] << 4;
}

void narrow_words(unsigned char *out, const unsigned *in, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = in[i] >> 8;
}

void even_elements(int *out, const int *a, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[2 * i];
}

int mismatches(const char *a, const char *b, int n)
{
    int c = 0;
    for (int i = 0; i < n; i++)
        c += a[i] != b[i];
    return c;
}

int inner_fixed(short a[8], short b[8])
{
    int s = 0;
    for (int i = 0; i < 8; i++)
        s += a[i] * b[i];
    return s;
}

void ramp(unsigned char *p, int n, int start, int step)
{
    for (int i = 0; i < n; i++, start += step)
        p[i] = start;
}

unsigned long sum_down(const unsigned *a, unsigned n)
{
    unsigned long s = 0;
    do {
        s += *a++;
    } while (--n);
    return s;
}

void row_sums(int *out, int (*a)[16], int n)
{
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int j = 0; j < 16; j++)
            s += a[i][j];
        out[i] = s;
    }
}
