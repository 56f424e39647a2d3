/* Turns on the rightmost zero. */
unsigned p06(unsigned x)
{
    return x | (x + 1);
}
