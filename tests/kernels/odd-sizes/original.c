void k(int n, double o[n])
{
  for (int i = 0; i < n; i++)
    o[i] += 1;
}
