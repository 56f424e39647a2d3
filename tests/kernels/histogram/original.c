#define N 8
void f(int h[4], int a[N]) {
  for (int i = 0; i < N; i++) {
    if (a[i] > 3)
      h[0]++;
    else if (a[i] < -3)
      h[1]++;
    else
      h[2] += a[i];
  }
}
