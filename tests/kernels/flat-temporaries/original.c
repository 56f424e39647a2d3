void matmul(float A[4][6], float B[6][5], float C[4][5]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++) {
      float s = 0.0f;
      for (int k = 0; k < 6; k++) s += A[i][k] * B[k][j];
      C[i][j] = s;
    }
}
