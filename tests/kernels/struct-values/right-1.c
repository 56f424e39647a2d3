// equivalent --fp ieee
#define N 5
typedef struct {
  double re, im;
} cx;
static inline cx mul(cx a, cx b) {
  cx r;
  r.re = a.re * b.re - a.im * b.im;
  r.im = a.re * b.im + a.im * b.re;
  return r;
}
void f(double a[N], double b[N], double c[N], double d[N]) {
  for (int i = 0; i < N; i++) {
    cx x = {a[i], b[i]}, y;
    y.re = c[i];
    y.im = d[i];
    cx r = mul(x, y);
    a[i] = r.re;
    b[i] = r.im;
  }
}
