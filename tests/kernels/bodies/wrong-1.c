// different --fp ieee
typedef struct { double x, y, z; } vec3;
typedef struct { vec3 p, v; float m; } body;
void step(body b[6], double dt) {
  for (int i = 0; i < 6; i++) {
    double ax = 0, ay = 0, az = 0;
    for (int j = 0; j < 6; j++) {
      double dx = b[j].p.x - b[i].p.x, dy = b[j].p.y - b[i].p.y, dz = b[j].p.z - b[i].p.z;
      double r = dx*dx + dy*dy + dz*dz + 1e-3;
      double w = b[j].m / (r * r);
      ax += w * dx; ay += w * dy; az += w * dz;
    }
    b[i].v.x += dt * ax; b[i].v.y += dt * ay; b[i].v.z += dt * az;
    b[i].p.x += dt * b[i].v.x; b[i].p.y += dt * b[i].v.y; b[i].p.z += dt * b[i].v.z; }
}
