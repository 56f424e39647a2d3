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
  m.speed = speed * speed;
  m.damping = 1.0 - damping;
  m.edge = 0.0;
  for (int t = 1; t <= STEPS; t++) {
    u[t + 1][0] = m.edge;
    u[t + 1][N - 1] = m.edge;
    for (int strip1 = 1; strip1 <= N - 2; strip1 += 8)
      for (int i = strip1; i < strip1 + 8; i++)
        u[t + 1][i] = u[t][i] + m.damping * (u[t][i] - u[t - 1][i]) + m.speed * (u[t][i - 1] - 2.0 * u[t][i] + u[t][i + 1]);
  }
#pragma endscop
}
