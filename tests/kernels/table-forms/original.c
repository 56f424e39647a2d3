static const double w[3][3] = { { 1./16, 2./16, 1./16 }, { 2./16, 4./16, 2./16 }, { 1./16, 2./16, 1./16 } };
void blur(double in[8][8], double out[8][8]) {
  for (int i = 1; i < 7; i++) for (int j = 1; j < 7; j++) { out[i][j] = 0; for (int k = -1; k <= 1; k++) for (int l = -1; l <= 1; l++) out[i][j] += w[k+1][l+1] * in[i+k][j+l]; }
}
