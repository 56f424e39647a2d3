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
  {
    for (int c1 = 0; c1 < N; c1 += 1)
      for (int c3 = 0; c3 < N; c3 += 1)
        f[c1][c3] = pull(px[c1], py[c1], px[c3], py[c3], mass[c3]);
    for (int c1 = 0; c1 < N; c1 += 1) {
      fx[c1] = 0.0;
      fy[c1] = 0.0;
      for (int c3 = 0; c3 < N; c3 += 1) {
        fx[c1] += f[c1][c3] * (px[c3] - px[c1]);
        fy[c1] += f[c1][c3] * (py[c3] - py[c1]);
      }
    }
  }
#pragma endscop
}
