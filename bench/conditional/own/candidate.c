/* Code for speed: right only where pointers are aligned, blocks do not overlap, numbers are multiples or small. */
#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

void add_saturating(uint8_t *d, const uint8_t *a, const uint8_t *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i += 16) {
        __m128i x = _mm_load_si128((const __m128i *)(a + i)), y = _mm_load_si128((const __m128i *)(b + i));
        _mm_store_si128((__m128i *)(d + i), _mm_adds_epu8(x, y));
    }
}

void average(uint8_t *d, const uint8_t *a, unsigned long n)
{
    for (unsigned long i = 0; i < n; i += 16) {
        __m128i x = _mm_load_si128((const __m128i *)(d + i)), y = _mm_load_si128((const __m128i *)(a + i));
        _mm_store_si128((__m128i *)(d + i), _mm_avg_epu8(x, y));
    }
}

void max_short(short *d, const short *a, unsigned long n)
{
    for (unsigned long i = 0; i < n; i += 8) {
        __m128i x = _mm_load_si128((const __m128i *)(d + i)), y = _mm_load_si128((const __m128i *)(a + i));
        _mm_store_si128((__m128i *)(d + i), _mm_max_epi16(x, y));
    }
}

void rgb_to_gray(uint8_t *gray, const uint8_t *rgb, unsigned long n)
{
    for (unsigned long i = 0; i < n; i += 2) {
        unsigned a = 77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2];
        unsigned b = 77 * rgb[3 * i + 3] + 150 * rgb[3 * i + 4] + 29 * rgb[3 * i + 5];
        gray[i] = a >> 8;
        gray[i + 1] = b >> 8;
    }
}

void base64_step(uint8_t *out, const uint8_t *in)
{
    uint32_t v = in[0] << 16 | in[1] << 8 | in[2];
    *(uint32_t *)out = v >> 18 | (v >> 12 & 63) << 8 | (v >> 6 & 63) << 16 | (v & 63) << 24;
}

long find_byte(const uint8_t *p, unsigned long n, uint8_t c)
{
    for (unsigned long i = 0; i < n; i += 2) {
        if (p[i] == c) return i;
        if (p[i + 1] == c) return i + 1;
    }
    return -1;
}

int dot(const int *a, const int *b, unsigned long n)
{
    int s = 0, t = 0;
    for (unsigned long i = 0; i < n; i += 2) {
        s += a[i] * b[i];
        t += a[i + 1] * b[i + 1];
    }
    return s + t;
}

unsigned sum(const unsigned *a, unsigned long n)
{
    __m128i s = _mm_setzero_si128();
    for (unsigned long i = 0; i < n; i += 4) s = _mm_add_epi32(s, _mm_load_si128((const __m128i *)(a + i)));
    unsigned t[4];
    _mm_storeu_si128((__m128i *)t, s);
    return t[0] + t[1] + t[2] + t[3];
}

void xor_block(uint8_t *d, const uint8_t *k)
{
    _mm_store_si128((__m128i *)d, _mm_xor_si128(_mm_load_si128((const __m128i *)d), _mm_loadu_si128((const __m128i *)k)));
}

void add_key(uint32_t *state, const uint32_t *key)
{
    __m128i s = _mm_loadu_si128((const __m128i *)state), k = _mm_load_si128((const __m128i *)key);
    _mm_storeu_si128((__m128i *)state, _mm_add_epi32(s, k));
}

int eighth(int x) { return x >> 3; }

unsigned bucket(unsigned h, unsigned buckets) { (void)buckets; return h & 63; }

int element(const int *a, unsigned long i, unsigned long n) { (void)n; return a[i]; }

int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

void copy_words(int *d, const int *s, unsigned long n)
{
    for (unsigned long i = 0; i < n; i += 4) _mm_storeu_si128((__m128i *)(d + i), _mm_load_si128((const __m128i *)(s + i)));
}

int column(const int *a, unsigned long n, unsigned long stride)
{
    int s = 0;
    (void)stride;
    for (unsigned long i = 0; i < n; i++) s += a[i];
    return s;
}

int value_or_zero(const int *p) { return *p; }

void saxpy(float *y, const float *x, float a, unsigned long n)
{
    __m128 k = _mm_set1_ps(a);
    for (unsigned long i = 0; i < n; i += 4)
        _mm_store_ps(y + i, _mm_add_ps(_mm_load_ps(y + i), _mm_mul_ps(k, _mm_load_ps(x + i))));
}

void swap(long *a, long *b)
{
    *a ^= *b;
    *b ^= *a;
    *a ^= *b;
}

long square(int x) { return x * x; }

struct header { uint16_t version, length; uint32_t source; };

uint32_t source_of(const struct header *h) { return h->source; }

void scale(double *a, unsigned long n, double k)
{
    __m128d s = _mm_set1_pd(k);
    for (unsigned i = 0; i < (unsigned)n; i += 2) _mm_store_pd(a + i, _mm_mul_pd(_mm_load_pd(a + i), s));
}

uint32_t rotate(uint32_t x, unsigned n) { return x << (n & 31) | x >> (-n & 31); }

int range_length(const char *first, const char *last) { return (int)(last - first); }
