/* Average, rounded up, without overflow. */
unsigned p15(unsigned x, unsigned y)
{
    return (x | y) - ((x ^ y) >> 1);
}
