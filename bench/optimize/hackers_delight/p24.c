/* The next power of two that is not smaller. */
unsigned p24(unsigned x)
{
    unsigned y = x - 1;
    y |= y >> 1;
    y |= y >> 2;
    y |= y >> 4;
    y |= y >> 8;
    y |= y >> 16;
    return y + 1;
}
