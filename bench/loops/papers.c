/* The small functions that the papers on this kind of proof show, written anew. */

int g[144];
int sum;

void sum_positive(int n)
{
    int *ptr = g;
    for (int i = 0; i < n; i++, ptr++)
        if (*ptr > 0)
            sum = sum + *ptr;
}

int invariant_product(int n, int x, int y)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += x * y + i;
    return s;
}

int scaled_index(int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[2 * i] - i * 7;
    return s;
}

struct list {
    int value;
    struct list *next;
};

int list_sum(struct list *l)
{
    int s = 0;
    for (; l; l = l->next)
        s += l->value;
    return s;
}

void list_increment(struct list *l)
{
    while (l) {
        l->value += 1;
        l = l->next;
    }
}

unsigned long length(const char *s)
{
    const char *p = s;
    while (*p)
        p++;
    return p - s;
}

int until_zero(int n)
{
    int steps = 0;
    while (n != 0) {
        n -= n & -n;
        steps++;
    }
    return steps;
}

int two_loops(int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        a[i] = i;
    for (int i = 0; i < n; i++)
        s += a[i] * a[i];
    return s;
}
