/* Masks the trailing zeros. */
unsigned p08(unsigned x)
{
    return ~x & (x - 1);
}
