/* Masks the rightmost one and the zeros behind it. */
unsigned p04(unsigned x)
{
    return x ^ (x - 1);
}
