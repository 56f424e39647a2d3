// different --param n=32
void k(int n, double o[n])
{
  for (int i = 0; i + 3 < n; i += 4) {
    o[i] += 1;
    o[i + 1] += 1;
    o[i + 2] += 1;
    o[i + 3] += 1;
  }
}
