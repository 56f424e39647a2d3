#define N 12
void f(double A[N]) {
  for (int i = 0; i < N; i++)
    if (i % 4 == 0)
      A[i] += 1.0;
    else if (i % 4 == 1)
      A[i] *= 2.0;
    else
      A[i] -= 3.0;
}
