/* Turns off the lowest run of ones. */
unsigned p17(unsigned x)
{
    unsigned filled = x | (x - 1);
    return (filled + 1) & x;
}
