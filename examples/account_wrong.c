/* account.c with one mistake in each function: what lockstep must not call equivalent. */
#include <stdio.h>
#include <stdlib.h>

struct account {
    int id;
    int balance;
    short flags;
    struct account *next;
};

struct account *newest;

/* Wrong: unsigned comparison. */
int clamp(int x, int low, int high)
{
    if (x < low)
        return low;
    if ((unsigned)x > (unsigned)high)
        return high;
    return x;
}

/* Wrong: rounds to the nearest day instead of up. */
unsigned days(unsigned minutes)
{
    return minutes / 1440 + (minutes % 1440 >= 720);
}

/* Wrong: September has 31 days. */
int month_length(int month, int leap)
{
    switch (month) {
    case 2:
        return leap ? 29 : 28;
    case 4:
    case 6:
    case 11:
        return 30;
    case 1:
    case 3:
    case 5:
    case 7:
    case 8:
    case 9:
    case 10:
    case 12:
        return 31;
    default:
        return 0;
    }
}

/* Wrong only when both pointers are the same account. */
void transfer(struct account *from, struct account *to, int amount)
{
    int rest = from->balance - amount;
    to->balance += amount;
    from->balance = rest;
}

/* Wrong: another text. */
int report(struct account *a)
{
    if (a->balance < 0) {
        printf("account %d is overdrawn\n", a->id);
        return -1;
    }
    return puts("fine.");
}

/* Wrong: sets the mask one bit short. */
struct account *open_account(int id, short flags)
{
    struct account *a = malloc(sizeof *a);
    if (!a)
        abort();
    a->id = id;
    a->balance = 0;
    a->flags = flags & 0x3f;
    a->next = newest;
    newest = a;
    return a;
}

/* Wrong: base 8. */
long parse(const char *text)
{
    char *end;
    long value = strtol(text, &end, 8);
    return *end ? -1 : value;
}

/* Wrong: associates the product differently, which rounds differently. */
double interest(double balance, double rate, int years)
{
    return balance + balance * (rate * years);
}
