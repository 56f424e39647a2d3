/* scramble: mixing rounds on unsigned words, wrapping, with shifts and xor. params: N=24 STEPS=5 */
#ifndef N
#define N 24
#endif
#ifndef STEPS
#define STEPS 5
#endif

void scramble(unsigned key[STEPS], unsigned state[N], unsigned sum[N])
{
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      state[i] = (state[i] ^ (state[i] >> 15)) * 2246822519u + key[t];
    for (int i = 1; i < N; i++)
      state[i] += state[i - 1] << 3;
    for (int i = 0; i < N; i++)
      sum[i] = sum[i] * 31u ^ state[i];
  }
#pragma endscop
}
