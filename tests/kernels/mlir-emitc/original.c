void m(float v1[4][8], float v2[8][4], float v3[4][4]) {
  for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) for (int k = 0; k < 8; ++k) v3[i][j] = v3[i][j] + v1[i][k] * v2[k][j];
}
