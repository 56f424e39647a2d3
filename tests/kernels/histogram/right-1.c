// equivalent --fp ieee
#define N 8
void f(int h[4], int a[N]) {
  for (int i = 0; i < N; i++) {
    h[0] += a[i] > 3;
    h[1] += (a[i] < -3);
    if (a[i] <= 3 && a[i] >= -3)
      h[2] += a[i];
  }
}
