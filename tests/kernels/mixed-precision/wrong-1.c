// different --fp ieee
#define N 8
void f(float a[N], double b[N], float s) {
  double ds = s;
  for (int i = 0; i < N; i++)
    a[i] = s + 2.0f * a[i];
  for (int i = 0; i < N; i++)
    b[i] = b[i] + s * a[i];
}
