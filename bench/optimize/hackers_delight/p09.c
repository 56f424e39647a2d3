/* Absolute value. */
int p09(int x)
{
    int sign = x >> 31;
    return (x ^ sign) - sign;
}
