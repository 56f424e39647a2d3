#define N 8
void k(double (*A)[N], double (*B)[N]) {
  for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) {
     double s = 0;
     for (int di = -1; di <= 1; di++) for (int dj = -1; dj <= 1; dj++) { s += (di == 0 && dj == 0 ? 4.0 : 1.0) * A[i+di][j+dj]; }
     B[i][j] = s;
  }
}
