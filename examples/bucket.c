/* The bucket of a key, and a version that masks. They differ where a key is negative. */
int bucket(int key)
{
    return key % 64;
}
