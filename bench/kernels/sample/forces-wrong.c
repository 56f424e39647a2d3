#include <math.h>
#ifndef N
#define N 14
#endif

static double square(double v) { return v * v; }

static double pull(double ax, double ay, double bx, double by, double mass)
{
  double d = square(bx - ax) + square(by - ay) + 0.01;
  return mass / (d * sqrt(d));
}

void forces(double px[N], double py[N], double mass[N], double fx[N], double fy[N], double f[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      f[i][j] = pull(px[i - 1], py[i], px[j], py[j], mass[j]);
  for (int i = 0; i < N; i++) {
    fx[i] = 0.0;
    fy[i] = 0.0;
    for (int j = 0; j < N; j++) {
      fx[i] += f[i][j] * (px[j] - px[i]);
      fy[i] += f[i][j] * (py[j] - py[i]);
    }
  }
#pragma endscop
}
