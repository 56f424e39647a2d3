/* Spreads the rightmost one to the right. */
unsigned p05(unsigned x)
{
    return x | (x - 1);
}
