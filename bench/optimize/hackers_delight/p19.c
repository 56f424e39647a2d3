/* Exchanges two fields of bits that are k apart; m masks the lower one. */
unsigned p19(unsigned x, unsigned m, unsigned k)
{
    unsigned moved = (x >> k) ^ x;
    unsigned differ = moved & m;
    return ((differ << k) ^ differ) ^ x;
}
