#ifndef N
#define N 24
#endif
#ifndef STEPS
#define STEPS 6
#endif

struct medium {
  double speed, damping;
  double edge;
};

void wave(double speed, double damping, double u[STEPS + 2][N])
{
  struct medium m;
#pragma scop
  {
    m.speed = speed * speed;
    m.damping = 1.0 - damping;
    m.edge = 0.0;
    for (int c1 = 1; c1 <= STEPS; c1 += 1) {
      u[c1 + 1][0] = m.edge;
      u[c1 + 1][N - 1] = m.edge;
      for (int c3 = 1; c3 < N - 1; c3 += 1)
        u[c1 + 1][c3] = u[c1][c3] + m.damping * (u[c1][c3] - u[c1 - 1][c3]) + m.speed * (u[c1][c3 - 1] - 2.0 * u[c1][c3] + u[c1][c3 + 1]);
    }
  }
#pragma endscop
}
