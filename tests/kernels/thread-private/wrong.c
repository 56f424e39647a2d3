// different race
static int c;
void k(int o[8])
{
#pragma omp parallel for
  for (int i = 0; i < 8; i++) {
    c = i;
    o[i] = c;
  }
  c = 0;
}
