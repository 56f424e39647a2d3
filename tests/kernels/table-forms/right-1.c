// equivalent --fp ieee
enum { N = 8, R = 1 };
void blur(double in[N][N], double out[N][N]) {
  static const double w[] = { 0.0625, .125, 6.25e-2, [3] = 0.125, 0x1p-2, 0.125, [6] = 0.0625, 0.125, 0.0625 };
  for (int i = R; i < N - R; ++i) for (int j = R; j < N - R; ++j) {
    double acc = 0; const double *p = w;
    for (int k = -R; k <= R; ++k) { const double *row = &in[i + k][j - R]; for (int l = 0; l < 2 * R + 1; ++l) acc += *p++ * *row++; }
    out[i][j] = acc; }
}
