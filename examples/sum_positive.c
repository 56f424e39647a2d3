/* A loop for which compilers replace the index by a pointer: README, "Loops". */

int a[144];

int sum_positive(int n)
{
    int i, s = 0;
    for (i = 0; i < n; i++)
        if (a[i] > 0) s += a[i];
    return s;
}
