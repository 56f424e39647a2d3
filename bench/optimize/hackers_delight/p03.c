/* Isolates the rightmost one. */
unsigned p03(unsigned x)
{
    return x & -x;
}
