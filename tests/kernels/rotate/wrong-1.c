// different --fp ieee
#define N 16
typedef unsigned int uint;
static inline uint rotl(uint x, int r) { return (x << r) | ((int)x >> (32 - r)); }
void f(uint a[N], uint k) {
  for (unsigned i = N - 1; i < N; i--)
    a[i] = rotl(a[i], 3) * k - 7;
}
