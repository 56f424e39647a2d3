/* Do both have the same number of leading zeros? */
int p10(unsigned x, unsigned y)
{
    return (x & y) >= (x ^ y);
}
