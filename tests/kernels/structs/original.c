typedef struct {
  double x, y, z;
} vec;
typedef struct {
  vec p;
  vec v;
  double m;
} body;
#define N 6
void f(body b[N], double dt) {
  for (int i = 0; i < N; i++) {
    b[i].p.x += dt * b[i].v.x;
    b[i].p.y += dt * b[i].v.y;
    b[i].p.z += dt * b[i].v.z;
  }
}
