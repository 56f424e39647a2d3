/* Is 0 for numbers of the form 2^n - 1, by turning off the trailing ones. */
unsigned p02(unsigned x)
{
    return x & (x + 1);
}
