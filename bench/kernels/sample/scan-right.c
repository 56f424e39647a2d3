#ifndef N
#define N 16
#endif
#define S0(i, j) a[(i) * N + (j)] += a[(i) * N + (j) - 1]
#define S1(i) total[(i)] = a[(i) * N + N - 1]
#define S2(i, j) a[(i) * N + (j)] += a[((i) - 1) * N + (j)]

void scan(float a[N * N], float total[N])
{
#pragma scop
  {
    for (int c5 = 0; c5 <= 15; c5 += 1) {
      for (int c7 = 1; c7 <= 15; c7 += 1)
        S0(c5, c7);
      S1(c5);
    }
    for (int c1 = 0; c1 <= 7; c1 += 1)
      for (int c3 = c1; c3 <= c1 + 4; c3 += 1)
        for (int c5 = (2 * c1 > 2 * c3 - 7) ? (2 * c1) : (2 * c3 - 7); c5 <= 2 * c1 + 1; c5 += 1)
          for (int c7 = (4 * c3 > 2 * c5 + 1) ? (4 * c3) : (2 * c5 + 1); c7 <= ((4 * c3 + 3 < 2 * c5 + 15) ? (4 * c3 + 3) : (2 * c5 + 15)); c7 += 1)
            S2(-2 * c5 + c7, c5);
  }
#pragma endscop
}
