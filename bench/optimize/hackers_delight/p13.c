/* Minus one, or zero for zero. */
int p13(int x)
{
    int low = x >> 31;
    int high = (int)-(unsigned)x >> 31;
    return low | high;
}
