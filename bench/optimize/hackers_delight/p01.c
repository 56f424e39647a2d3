/* Turns off the rightmost one. */
unsigned p01(unsigned x)
{
    return x & (x - 1);
}
