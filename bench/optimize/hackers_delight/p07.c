/* Isolates the rightmost zero. */
unsigned p07(unsigned x)
{
    return ~x & (x + 1);
}
