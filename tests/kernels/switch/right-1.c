// equivalent --fp ieee
#define N 12
void f(double A[N]) {
  for (int i = 0; i < N; i++)
    switch (i % 4) {
    case 0:
      A[i] += 1.0;
      break;
    case 1:
      A[i] *= 2.0;
      break;
    case 2:
    case 3:
      A[i] -= 3.0;
      break;
    }
}
