/* The average of two numbers without overflow, in the words of the book; four instructions do it. */
unsigned average(unsigned a, unsigned b)
{
    unsigned both = a & b;
    unsigned either = a ^ b;
    unsigned half = either >> 1;
    return both + half;
}
