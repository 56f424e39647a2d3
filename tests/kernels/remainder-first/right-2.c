// equivalent --param n=23
void axpy(unsigned n, double a, const double * restrict x, double * restrict y) {
  const double *e = x + n;
  switch (n & 3) {
    case 3: *y++ += a * *x++; /* fall through */
    case 2: *y++ += a * *x++;
    case 1: *y++ += a * *x++;
    default: break;
  }
  while (x != e) { int k; for (k = 0; k < 4; k++) y[k] += x[k] * a; x += 4; y += 4; }
}
