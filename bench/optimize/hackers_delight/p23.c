/* Number of ones. */
unsigned p23(unsigned x)
{
    unsigned pairs = x - ((x >> 1) & 0x55555555u);
    unsigned fours = (pairs & 0x33333333u) + ((pairs >> 2) & 0x33333333u);
    unsigned bytes = (fours + (fours >> 4)) & 0x0f0f0f0fu;
    unsigned halves = bytes + (bytes >> 8);
    return (halves + (halves >> 16)) & 0x3f;
}
