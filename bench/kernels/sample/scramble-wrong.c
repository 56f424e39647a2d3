#ifndef N
#define N 24
#endif
#ifndef STEPS
#define STEPS 5
#endif
static inline unsigned part1(unsigned v0, unsigned v1) { return (v0 ^ v0 >> 15) * 2246822519u + v1; }

void scramble(unsigned key[STEPS], unsigned state[N], unsigned sum[N])
{
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      state[i] = part1(key[t], state[i]);
    for (int i = 1; i < N; i++)
      state[i] += state[i - 1] << 3;
    for (int i = 0; i < N; i++)
      sum[i] = sum[i] * 31u ^ state[i];
  }
#pragma endscop
}
