/* Programs p01 to p25 of the synthesis benchmarks after Hacker's Delight. */
#include <stdint.h>
typedef uint32_t U;
typedef int32_t S;

S p01(S x) { S a = x - 1; return x & a; }
S p02(S x) { S a = x + 1; return x & a; }
S p03(S x) { S a = -x; return x & a; }
S p04(S x) { S a = x - 1; return x ^ a; }
S p05(S x) { S a = x - 1; return x | a; }
S p06(S x) { S a = x + 1; return x | a; }
S p07(S x) { S a = ~x, b = x + 1; return a & b; }
S p08(S x) { S a = x - 1, b = ~x; return a & b; }
S p09(S x) { S a = x >> 31, b = x ^ a; return (S)((U)b - (U)a); }
S p10(U x, U y) { U a = x & y, b = x ^ y; return b <= a; }
S p11(U x, U y) { U a = ~y, b = x & a; return b > y; }
S p12(U x, U y) { U a = ~y, b = x & a; return b <= y; }
S p13(S x) { S a = x >> 31; U b = -(U)x; return a | (S)(b >> 31); }
U p14(U x, U y) { U a = x & y, b = x ^ y, c = b >> 1; return a + c; }
U p15(U x, U y) { U a = x | y, b = x ^ y, c = b >> 1; return a - c; }
U p16(U x, U y) { U a = x ^ y, b = -(U)(x >= y), c = a & b; return c ^ y; }
S p17(S x) { U a = (U)x - 1, b = (U)x | a, c = b + 1; return (S)(c & (U)x); }
S p18(U x) { U a = x - 1; return (x & a) == 0 && x != 0; }
U p19(U x, U m, U k) { U a = x >> k, b = x ^ a, c = b & m, d = c << k, e = d ^ c; return x ^ e; }
U p20(U x) { U a = -x, b = x & a, c = x + b, d = x ^ c, e = d >> 2; return c | (b ? e / b : 0); }
U p21(U x, U a, U b, U c) {
    U d = -(U)(x == c), e = a ^ c, f = -(U)(x == a), g = b ^ c, h = d & e, i = f & g, j = h ^ i;
    return j ^ c;
}
U p22(U x) {
    U a = x >> 1, b = a ^ x, c = b >> 2, d = b ^ c;
    U e = d & 0x11111111, f = e * 0x11111111, g = f >> 28;
    return g & 1;
}
U p23(U x) {
    U a = x >> 1, b = a & 0x55555555, c = x - b;
    U d = c & 0x33333333, e = c >> 2, f = e & 0x33333333, g = d + f;
    U h = g >> 4, i = h + g, j = i & 0x0f0f0f0f;
    return j * 0x01010101 >> 24;
}
U p24(U x) {
    U a = x - 1;
    a |= a >> 1;
    a |= a >> 2;
    a |= a >> 4;
    a |= a >> 8;
    a |= a >> 16;
    return a + 1;
}
U p25(U x, U y) {
    U a = x & 0xffff, b = x >> 16, c = y & 0xffff, d = y >> 16;
    U e = a * c, f = b * c, g = a * d, h = b * d;
    U i = e >> 16, j = f + i, k = j & 0xffff, l = j >> 16, m = g + k, n = m >> 16;
    return h + l + n;
}
