// equivalent --fp ieee
void f(double A[6][6]) {
  int i, j;
#pragma omp parallel for collapse(2)
  for (i = 0; i < 6; i++)
    for (j = 0; j < 6; j++)
      A[i][j] = 2.0 * A[i][j];
}
