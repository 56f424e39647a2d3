// equivalent --fp ieee
#define N 8
typedef unsigned char u8;
typedef unsigned short u16;
void f(u8 a[N], signed char b[N], u16 c[N], int d[N]) {
  for (int i = 0; i < N; i++)
    a[i] = (u8)(((int)a[i] + (int)b[i]) >> 1);
  for (int i = 0; i < N; i++) {
    c[i] = (u16)(c[i] + a[i] * 3);
    d[i] ^= c[i];
  }
}
