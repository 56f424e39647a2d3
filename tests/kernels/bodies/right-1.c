// equivalent --fp ieee
typedef struct { double x, y, z; } vec3;
typedef struct { vec3 p, v; float m; } body;
static inline vec3 sub(const vec3 *a, const vec3 *b) { return (vec3){ a->x - b->x, a->y - b->y, a->z - b->z }; }
static inline vec3 axpy(double s, vec3 a, vec3 b) { vec3 r = { .z = s * a.z + b.z, .x = s * a.x + b.x, .y = s * a.y + b.y }; return r; }
void step(body *b, double dt) {
  vec3 acc[6] = {{0}};
  for (int j = 0; j < 6; j++)
    for (body *q = b; q < b + 6; ++q) {
      vec3 d = sub(&b[j].p, &q->p);
      double r = d.x*d.x + d.y*d.y + d.z*d.z + 1e-3;
      acc[q - b] = axpy(b[j].m / (r*r), d, acc[q - b]);
    }
  for (int i = 5; i >= 0; i--) {
    b[i].v = axpy(dt, acc[i], b[i].v);
    (*(b + i)).p = axpy(dt, b[i].v, b[i].p);
  }
}
