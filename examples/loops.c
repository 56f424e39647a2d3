/* Functions with loops. */
struct account {
    int id;
    int balance;
    struct account *next;
};

/* Proved for any number of rounds: the optimiser counts with a pointer. */
int sum(const int *values, int count)
{
    int total = 0;
    for (int i = 0; i < count; i++)
        total += values[i];
    return total;
}

/* Stores in a loop. */
void scale(int *values, int count, int factor)
{
    for (int i = 0; i < count; i++)
        values[i] *= factor;
}

/* A list of unknown length. */
struct account *find(struct account *list, int id)
{
    while (list && list->id != id)
        list = list->next;
    return list;
}
