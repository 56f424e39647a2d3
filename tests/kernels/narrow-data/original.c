#define N 8
void f(unsigned char a[N], signed char b[N], unsigned short c[N], int d[N]) {
  for (int i = 0; i < N; i++) {
    a[i] = (a[i] + b[i]) >> 1;
    c[i] += a[i] * 3;
    d[i] = d[i] ^ c[i];
  }
}
