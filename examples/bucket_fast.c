/* Right for keys that are not negative. */
int bucket(int key)
{
    return key & 63;
}
