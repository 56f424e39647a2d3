/* The functions of loops.c, each with one mistake. */
struct account {
    int id;
    int balance;
    struct account *next;
};

/* One round too many. */
int sum(const int *values, int count)
{
    int total = 0;
    for (int i = 0; i <= count; i++)
        total += values[i];
    return total;
}

/* The first value is left out. */
void scale(int *values, int count, int factor)
{
    for (int i = 1; i < count; i++)
        values[i] *= factor;
}

/* The last account is found whatever its number. */
struct account *find(struct account *list, int id)
{
    while (list && list->id != id && list->next)
        list = list->next;
    return list;
}
