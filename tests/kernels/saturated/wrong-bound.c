// different --fp ieee
typedef unsigned char byte;
static byte clamp(int v) {
  if (v < 0)
    return 0;
  if (v > 254)
    return 254;
  return v;
}
void f(const int x[6], byte y[6], int sum[1]) {
  sum[0] = 0;
  for (int i = 0; i < 6; i++) {
    y[i] = clamp(x[i] >> 2);
    sum[0] += y[i];
  }
}
