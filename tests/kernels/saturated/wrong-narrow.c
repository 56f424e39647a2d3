// different --fp ieee
typedef unsigned char byte;
static byte clamp(int v) {
  signed char c = v < 0 ? 0 : v > 255 ? 255 : v;
  return v > 255 ? 255 : c < 0 ? 0 : c;
}
void f(const int x[6], byte y[6], int sum[1]) {
  sum[0] = 0;
  for (int i = 0; i < 6; i++) {
    y[i] = clamp(x[i] >> 2);
    sum[0] += y[i];
  }
}
