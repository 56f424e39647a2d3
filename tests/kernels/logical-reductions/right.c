// equivalent
int all(const int x[8])
{
  int s = 5;
  for (int i = 0; i < 8; i++)
    if (0 < x[i])
      s = s && x[i] < 100;
  return s;
}
