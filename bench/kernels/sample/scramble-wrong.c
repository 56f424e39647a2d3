#ifndef N
#define N 24
#endif
#ifndef STEPS
#define STEPS 5
#endif

void scramble(unsigned key[STEPS], unsigned state[N], unsigned sum[N])
{
#pragma scop
  for (int c1 = -2; c1 < STEPS; c1 += 1) {
    if (c1 >= 0) {
      for (int c3 = 0; c3 < N; c3 += 1)
        state[c3] = (state[c3] ^ state[c3] >> 15) * 2246822519u + key[c1];
      for (int c3 = 1; c3 < N; c3 += 1)
        state[c3] += state[c3 - 1] << 3;
    }
    if (STEPS >= c1 + 3)
      for (int c3 = 0; c3 < N; c3 += 1)
        sum[c3] = sum[c3] * 31u ^ state[c3];
  }
#pragma endscop
}
