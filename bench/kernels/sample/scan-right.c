#ifndef N
#define N 16
#endif
#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))

void scan(float a[N * N], float total[N])
{
#pragma scop
  {
    for (int c7 = 0; c7 <= 15; c7 += 1) {
      for (int c9 = 1; c9 <= 15; c9 += 1)
        a[c7 * N + c9] += a[c7 * N + c9 - 1];
      total[c7] = a[c7 * N + N - 1];
    }
    for (int c1 = 0; c1 <= 1; c1 += 1)
      for (int c3 = c1; c3 <= min(5, 2 * c1 + 4); c3 += 1)
        for (int c5 = max(5 * c1, 2 * c1 + 2 * c3); c5 <= min(min(4 * c3 + 3, 2 * c3 + 5), 2 * c1 + 2 * c3 + 4); c5 += 1)
          for (int c7 = max(max(max(5 * c1, 4 * c3 - 15), c5 - 8), -4 * c3 + 2 * c5 - 4); c7 <= min(min(min(7, 5 * c1 + 4), c5), -4 * c3 + 2 * c5 + 1); c7 += 1)
            for (int c9 = max(max(4 * c3, c5), 2 * c5 - c7 - 1); c9 <= min(min(min(4 * c3 + 3, 2 * c5), 2 * c5 - c7 + 1), c7 + 15); c9 += 1)
              for (int c11 = max(max(2 * c5, c7 + c9), c9 + 1); c11 <= min(2 * c5 + 1, c7 + c9 + 1); c11 += 1)
                a[(c7 - c9 + c11) * N + (-c7 + c9)] += a[(c7 - c9 + c11 - 1) * N + (-c7 + c9)];
  }
#pragma endscop
}
