/* A loop that compilers turn into vectors, some better than others. */
int distance(const int *a, const int *b, long n)
{
    int sum = 0;
    for (long i = 0; i < n; i++) {
        int d = a[i] - b[i];
        sum += d * d;
    }
    return sum;
}
