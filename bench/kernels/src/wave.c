/* wave: damped wave on a string; the coefficients live in a struct. params: N=24 STEPS=6 */
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
    for (int i = 1; i < N - 1; i++)
      u[t + 1][i] = u[t][i] + m.damping * (u[t][i] - u[t - 1][i])
                  + m.speed * (u[t][i - 1] - 2.0 * u[t][i] + u[t][i + 1]);
  }
#pragma endscop
}
