// equivalent
static int c;
void k(int o[8])
{
  for (int i = 0; i < 8; i++)
    o[i] = i;
  c = 0;
}
