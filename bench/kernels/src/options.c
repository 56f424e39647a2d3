/* options: value of an option by backward induction on a binomial lattice. params: N=20; inputs: positive */
#include <math.h>
#ifndef N
#define N 20
#endif

void options(double spot, double strike, double up, double prob, double rate, double value[N + 1])
{
  double hold[N + 1];
#pragma scop
  for (int i = 0; i <= N; i++) {
    value[i] = spot * pow(up, 2.0 * i - N);
    value[i] = fmax(value[i] - strike, 0.0);
  }
  for (int t = N - 1; t >= 0; t--) {
    for (int i = 0; i <= t; i++)
      hold[i] = exp(-rate) * (prob * value[i + 1] + (1.0 - prob) * value[i]);
    for (int i = 0; i <= t; i++)
      value[i] = hold[i];
  }
#pragma endscop
}
