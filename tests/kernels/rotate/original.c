#define N 16
void f(unsigned a[N], unsigned k) {
  for (unsigned i = 0; i < N; i++) {
    a[i] = (a[i] << 3) | (a[i] >> 29);
    a[i] *= k;
    a[i] -= 7u;
  }
}
