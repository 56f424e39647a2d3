#include <math.h>
#ifndef N
#define N 20
#endif
#define S0(i) value[(i)] = spot * pow(up, 2.0 * (i) - N)
#define S1(i) value[(i)] = fmax(value[(i)] - strike, 0.0)
#define S2(t, i) hold[(i)] = exp(-rate) * (prob * value[(i) + 1] + (1.0 - prob) * value[(i)])
#define S3(t, i) value[(i)] = hold[(i)]

void options(double spot, double strike, double up, double prob, double rate, double value[N + 1])
{
  double hold[N + 1];
#pragma scop
  for (int c1 = -N - 1; c1 < N - 1; c1 += 1) {
    if (c1 >= -2) {
      S0(c1 + 2);
      S1(c1 + 2);
    }
    for (int c3 = 0; c3 < -c1 - 1; c3 += 1)
      S2(-c1 - 2, c3);
    for (int c3 = 0; c3 < -c1 - 1; c3 += 1)
      S3(-c1 - 2, c3);
  }
#pragma endscop
}
