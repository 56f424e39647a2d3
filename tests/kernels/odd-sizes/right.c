// equivalent --param n=32 --no-run
void k(int n, double o[n])
{
  int i = 0;
  for (; i + 3 < n; i += 4) {
    o[i] += 1;
    o[i + 1] += 1;
    o[i + 2] += 1;
    o[i + 3] += 1;
  }
  for (; i < n; i++)
    o[i] += 1;
}
