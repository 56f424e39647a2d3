void fft(double re[16], double im[16]) {
  for (int i = 0; i < 16; i++) { int r = 0; for (int b = 0; b < 4; b++) if (i & (1 << b)) r |= 8 >> b; if (r > i) { double t = re[i]; re[i] = re[r]; re[r] = t; t = im[i]; im[i] = im[r]; im[r] = t; } }
}
