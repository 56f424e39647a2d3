/* The next larger number with as many ones. */
unsigned p20(unsigned x)
{
    unsigned lowest = x & -x;
    unsigned ripple = x + lowest;
    unsigned ones = ((x ^ ripple) >> 2) / lowest;
    return ripple | ones;
}
