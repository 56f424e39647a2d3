/* Has x at most as many leading zeros as y? */
int p12(unsigned x, unsigned y)
{
    return (y & ~x) <= x;
}
