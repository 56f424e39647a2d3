/* Is the number of ones odd? With a processor that counts ones (--cpu v2) there is a short way. */
unsigned parity(unsigned x)
{
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    x ^= x >> 2;
    x ^= x >> 1;
    return x & 1;
}
