/* Loops of "Data-Driven Equivalence Checking" (OOPSLA 2013), a list, and functions that string instructions can do. */
#include <stddef.h>

/* A sum that a compiler keeps in memory. */
void bansal(int *sum, const int *a, long n) {
    *sum = 0;
    for (long i = 0; i < n; i++)
        *sum += a[i];
}

void saxpy(int *x, const int *y, int a, long n) {
    for (long i = 0; i < n; i++)
        x[i] = a * x[i] + y[i];
}

typedef struct Node { int value; struct Node *next; } Node;

void list(Node *head) {
    while (head != 0) {
        head->value = head->value * 2;
        head = head->next;
    }
}

void fill(unsigned char *to, int value, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)value;
}

void copy(unsigned char *to, const unsigned char *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

void words(unsigned long *to, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = 0;
}
