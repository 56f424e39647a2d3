#define N 8
void f(float a[N], double b[N], float s) {
  for (int i = 0; i < N; i++) {
    a[i] = a[i] * 2.0f + s;
    b[i] += a[i] * (double)s;
  }
}
