/* Is it a power of two? */
int p18(unsigned x)
{
    int several = (x & (x - 1)) != 0;
    return (several == 0) & (x != 0);
}
