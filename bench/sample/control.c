/* Switches, nested conditions, merged exits. */

enum kind { ADD, SUB, MUL, AND, OR, XOR, NEG, NOT };

int evaluate(enum kind k, int a, int b)
{
    switch (k) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case AND: return a & b;
    case OR: return a | b;
    case XOR: return a ^ b;
    case NEG: return -a;
    case NOT: return ~a;
    }
    return 0;
}

const char *name(int k)
{
    switch (k) {
    case 0: return "zero";
    case 1: return "one";
    case 2: return "two";
    case 3: return "three";
    case 4: return "four";
    case 5: return "five";
    default: return "many";
    }
}

int cost(int k)
{
    switch (k) {
    case 0: return 3;
    case 1: return 9;
    case 2: return 27;
    case 3: return -1;
    case 4: return 8;
    case 5: return 11;
    case 9: return 4;
    default: return 0;
    }
}

int classify(int c)
{
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        return 1;
    if (c >= '0' && c <= '9')
        return 2;
    if (c == '+' || c == '-' || c == '*' || c == '/')
        return 3;
    return 0;
}

int compare(const int *a, const int *b)
{
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    if (a[1] != b[1])
        return a[1] < b[1] ? -1 : 1;
    return 0;
}

unsigned decode(const unsigned char *p)
{
    if (p[0] < 0x80)
        return p[0];
    if (p[0] < 0xe0)
        return (p[0] & 0x1fu) << 6 | (p[1] & 0x3f);
    return (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3f);
}

int steps(int a, int b, int c)
{
    int n = 0;
    if (a > b) n += 1;
    if (b > c) n += 2;
    if (a > c) n += 4;
    return n == 7 ? a : n == 0 ? c : n;
}
