// different --fp ieee
typedef struct {
  double x, y, z;
} vec;
typedef struct {
  vec p;
  vec v;
  double m;
} body;
#define N 6
static void axpy(vec *a, const vec *b, double s) {
  a->x += s * b->x;
  a->y += s * b->y;
  a->z += s * a->z;
}
void f(body b[N], double dt) {
  for (body *q = b; q < b + N; q++)
    axpy(&q->p, &q->v, dt);
}
