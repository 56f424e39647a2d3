/* Average, rounded down, without overflow. */
unsigned p14(unsigned x, unsigned y)
{
    return (x & y) + ((x ^ y) >> 1);
}
