/* Pointers, structs, globals, arrays, bit fields, unions. */

struct point { int x, y; };
struct node { long key; struct node *left, *right; unsigned char red; };
struct header { unsigned version : 4, kind : 12, length : 16; };
struct buffer { char *data; unsigned used, size; };

int counter;
static int hidden = 3;
int table[16];
struct point origin;
const short weights[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };

void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
void add_point(struct point *to, const struct point *p) { to->x += p->x; to->y += p->y; }
struct point make_point(int x, int y) { struct point p = { x, y }; return p; }
int manhattan(struct point p) { return (p.x < 0 ? -p.x : p.x) + (p.y < 0 ? -p.y : p.y); }
void move_origin(int dx, int dy) { origin.x += dx; origin.y += dy; counter++; }
int next_hidden(void) { return hidden++; }
int lookup(unsigned i) { return i < 16 ? table[i] : -1; }
void update(unsigned i, int v) { table[i & 15] = v; table[(i + 1) & 15] += v; }
int weight(unsigned i) { return weights[i & 7] * 2; }
struct node *child(struct node *n, long key) { return key < n->key ? n->left : n->right; }
void rotate_left(struct node **root)
{
    struct node *n = *root, *r = n->right;
    n->right = r->left;
    r->left = n;
    r->red = n->red;
    n->red = 1;
    *root = r;
}
unsigned kind(const struct header *h) { return h->version == 1 ? h->kind : 0; }
void set_length(struct header *h, unsigned n) { h->length = n; }
int append(struct buffer *b, char c)
{
    if (b->used == b->size)
        return -1;
    b->data[b->used++] = c;
    return 0;
}
unsigned float_bits(float f) { union { float f; unsigned u; } u; u.f = f; return u.u; }
void copy16(long *to, const long *from) { to[0] = from[0]; to[1] = from[1]; }
int local_table(int i) { int t[4] = { 10, 20, 30, 40 }; return t[i & 3]; }
long sum4(const int *p) { return (long)p[0] + p[1] + p[2] + p[3]; }
