/* The demo's program: a branch, a division, a loop and a call. */
#include <stdio.h>

int balances[64];

/* Branches on one side, conditional moves on the other. */
int clamp(int x, int low, int high)
{
    if (x < low)
        return low;
    if (x > high)
        return low;
    return x;
}

/* A division that the optimiser turns into a multiplication. */
unsigned days(unsigned minutes)
{
    return minutes / 1440 + (minutes % 1440 != 0);
}

/* An index on one side, a pointer on the other. */
int total(int n)
{
    int i, sum = 0;
    for (i = 0; i < n; i++)
        if (balances[i] > 0)
            sum += balances[i];
    return sum;
}

/* A call, which becomes another one. */
void report(int id)
{
    printf("account %d\n", id);
    printf("done\n");
}
