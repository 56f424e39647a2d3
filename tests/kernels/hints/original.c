void k(double a[8][8], double s[8]) {
  for (int i = 0; i < 8; i++) { s[i] = 0; for (int j = 0; j < 8; j++) s[i] += a[i][j]; }
}
