/* The next of three values: a, b, c, a. */
unsigned p21(unsigned x, unsigned a, unsigned b, unsigned c)
{
    unsigned last = -(unsigned)(x == c) & (a ^ c);
    unsigned first = -(unsigned)(x == a) & (b ^ c);
    return (last ^ first) ^ c;
}
