void k(_Bool b[4], int a[4], unsigned char c[2]) {
  if (a[0]) b[0] = 1;
  if (a[1] < 3) b[1] = 1; else b[1] = 0;
  _Bool t = 0;
  if (a[2] > 2) t = 1;
  if (a[3] > 2) t = !t;
  b[2] = t;
  switch (a[0]) { case 3: b[3] = 1; break; case 4: b[3] = 0; }
  unsigned char n = 0;
  if (a[1] > 5) n = 1;
  c[0] = n + 255;
  if (a[2] > 5) n = 2;
  c[1] = n;
}
