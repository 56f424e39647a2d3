// different
void k(_Bool b[4], int a[4], unsigned char c[2]) {
  b[0] = a[0] ? 1 : b[0];
  b[1] = a[1] < 3;
  _Bool t = 0;
  if (2 < a[2]) t = 1;
  if (2 < a[3]) t = !t;
  b[2] = t;
  if (a[0] == 3) b[3] = 1; else if (a[0] == 4) b[3] = 0;
  unsigned char n = 0;
  if (5 < a[1]) n = 1;
  c[0] = 255 + n;
  if (5 < a[2]) n = 1;
  c[1] = n;
}
