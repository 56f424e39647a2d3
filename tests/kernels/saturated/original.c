typedef unsigned char byte;
static byte clamp(int v) { return v < 0 ? 0 : v > 255 ? 255 : (byte)v; }
void f(const int x[6], byte y[6], int sum[1]) {
  sum[0] = 0;
  for (int i = 0; i < 6; i++) {
    y[i] = clamp(x[i] >> 2);
    sum[0] += y[i];
  }
}
