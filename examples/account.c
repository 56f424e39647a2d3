/* The demo's program: functions of the kinds that real code is made of, none with a loop. */
#include <stdio.h>
#include <stdlib.h>

struct account {
    int id;
    int balance;
    short flags;
    struct account *next;
};

struct account *newest;

/* Branches on one side, conditional moves on the other. */
int clamp(int x, int low, int high)
{
    if (x < low)
        return low;
    if (x > high)
        return high;
    return x;
}

/* A division that the optimiser turns into a multiplication. */
unsigned days(unsigned minutes)
{
    return minutes / 1440 + (minutes % 1440 != 0);
}

/* A jump table, or a table of results. */
int month_length(int month, int leap)
{
    switch (month) {
    case 2:
        return leap ? 29 : 28;
    case 4:
    case 6:
    case 9:
    case 11:
        return 30;
    case 1:
    case 3:
    case 5:
    case 7:
    case 8:
    case 10:
    case 12:
        return 31;
    default:
        return 0;
    }
}

/* Memory that two pointers may share. */
void transfer(struct account *from, struct account *to, int amount)
{
    from->balance -= amount;
    to->balance += amount;
}

/* Calls, a string literal, a result of a callee. */
int report(struct account *a)
{
    if (a->balance < 0) {
        printf("account %d is overdrawn\n", a->id);
        return -1;
    }
    return puts("fine");
}

/* A fresh object, linked into a global list. */
struct account *open_account(int id, short flags)
{
    struct account *a = malloc(sizeof *a);
    if (!a)
        abort();
    a->id = id;
    a->balance = 0;
    a->flags = flags & 0x7f;
    a->next = newest;
    newest = a;
    return a;
}

/* A local whose address is passed to a callee. */
long parse(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *end ? -1 : value;
}

/* Floating point. */
double interest(double balance, double rate, int years)
{
    return balance + balance * rate * years;
}
