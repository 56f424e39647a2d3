/* The larger one. */
unsigned p16(unsigned x, unsigned y)
{
    unsigned mask = -(unsigned)(x >= y);
    return ((x ^ y) & mask) ^ y;
}
