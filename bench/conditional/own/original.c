/* Code as it is written first: right for every argument. candidate.c has what people write for speed. */
#include <stddef.h>
#include <stdint.h>

void add_saturating(uint8_t *d, const uint8_t *a, const uint8_t *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        unsigned s = a[i] + b[i];
        d[i] = s > 255 ? 255 : s;
    }
}

void average(uint8_t *d, const uint8_t *a, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) d[i] = (d[i] + a[i] + 1) >> 1;
}

void max_short(short *d, const short *a, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) d[i] = d[i] > a[i] ? d[i] : a[i];
}

void rgb_to_gray(uint8_t *gray, const uint8_t *rgb, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        gray[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}

void base64_step(uint8_t *out, const uint8_t *in)
{
    out[0] = in[0] >> 2;
    out[1] = (in[0] & 3) << 4 | in[1] >> 4;
    out[2] = (in[1] & 15) << 2 | in[2] >> 6;
    out[3] = in[2] & 63;
}

long find_byte(const uint8_t *p, unsigned long n, uint8_t c)
{
    for (unsigned long i = 0; i < n; i++)
        if (p[i] == c) return i;
    return -1;
}

int dot(const int *a, const int *b, unsigned long n)
{
    int s = 0;
    for (unsigned long i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

unsigned sum(const unsigned *a, unsigned long n)
{
    unsigned s = 0;
    for (unsigned long i = 0; i < n; i++) s += a[i];
    return s;
}

void xor_block(uint8_t *d, const uint8_t *k)
{
    for (int i = 0; i < 16; i++) d[i] ^= k[i];
}

void add_key(uint32_t *state, const uint32_t *key)
{
    state[0] += key[0];
    state[1] += key[1];
    state[2] += key[2];
    state[3] += key[3];
}

int eighth(int x) { return x / 8; }

unsigned bucket(unsigned h, unsigned buckets) { return buckets == 0 ? 0 : h % buckets; }

int element(const int *a, unsigned long i, unsigned long n) { return i < n ? a[i] : -1; }

int clamp(int x, int low, int high)
{
    if (x > high) x = high;
    return x < low ? low : x;
}

void copy_words(int *d, const int *s, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) d[i] = s[i];
}

int column(const int *a, unsigned long n, unsigned long stride)
{
    int s = 0;
    for (unsigned long i = 0; i < n; i++) s += a[i * stride];
    return s;
}

int value_or_zero(const int *p) { return p ? *p : 0; }

void saxpy(float *y, const float *x, float a, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) y[i] += a * x[i];
}

void swap(long *a, long *b)
{
    long t = *a;
    *a = *b;
    *b = t;
}

long square(int x) { return (long)x * x; }

struct header { uint16_t version, length; uint32_t source; };

uint32_t source_of(const struct header *h)
{
    return h->version == 4 ? h->source : h->source ^ 0x5a5a5a5a;
}

void scale(double *a, unsigned long n, double k)
{
    for (unsigned long i = 0; i < n; i++) a[i] *= k;
}

uint32_t rotate(uint32_t x, unsigned n)
{
    if (n >= 32) return 0;
    return n == 0 ? x : x << n | x >> (32 - n);
}

int range_length(const char *first, const char *last) { return last < first ? 0 : (int)(last - first); }
