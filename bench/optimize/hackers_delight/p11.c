/* Has x fewer leading zeros than y? */
int p11(unsigned x, unsigned y)
{
    return (x & ~y) > y;
}
