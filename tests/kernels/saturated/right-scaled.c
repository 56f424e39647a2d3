// equivalent --fp ieee
typedef unsigned char byte;
static byte clamp(int v) {
  int half = 2 * (v < 0 ? 0 : v > 255 ? 255 : v);
  return v < 0 ? 0 : v > 255 ? half / 2 : v;
}
void f(const int x[6], byte y[6], int sum[1]) {
  sum[0] = 0;
  for (int i = 0; i < 6; i++) {
    y[i] = clamp(x[i] >> 2);
    sum[0] += y[i];
  }
}
