/* Parity. */
unsigned p22(unsigned x)
{
    unsigned pairs = x ^ (x >> 1);
    unsigned fours = pairs ^ (pairs >> 2);
    return (((fours & 0x11111111u) * 0x11111111u) >> 28) & 1;
}
