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
  double u_copy1[STEPS + 2][N];
  for (int u_copy1_0 = 0; u_copy1_0 < STEPS + 2; u_copy1_0++)
    for (int u_copy1_1 = 0; u_copy1_1 < N; u_copy1_1++)
      u_copy1[u_copy1_0][u_copy1_1] = u[u_copy1_0][u_copy1_1];
  m.speed = speed * speed;
  m.damping = 1.0 - damping;
  m.edge = 0.0;
  for (int t = 1; t <= STEPS; t++) {
    u_copy1[t + 1][0] = m.edge;
    u_copy1[t + 1][N - 1] = m.edge;
    for (int i = 1; i < N - 1; i++)
      u_copy1[t + 1][i] = u_copy1[t][i] + m.damping * (u_copy1[t][i] - u_copy1[t - 1][i]) + m.speed * (u_copy1[t][i - 1] - 2.0 * u_copy1[t][i] + u_copy1[t][i + 1]);
  }
#pragma endscop
}
