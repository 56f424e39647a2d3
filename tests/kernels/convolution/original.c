#define NB 2
#define CO 3
#define CI 2
#define H 6
#define W 7
#define R 3
void conv(float out[NB][CO][H][W], const float in[NB][CI][H+R-1][W+R-1], const float w[CO][CI][R][R]) {
  for (int n = 0; n < NB; n++) for (int o = 0; o < CO; o++) for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) {
    out[n][o][y][x] = 0.f;
    for (int c = 0; c < CI; c++) for (int r = 0; r < R; r++) for (int s = 0; s < R; s++)
      out[n][o][y][x] += in[n][c][y+r][x+s] * w[o][c][r][s];
  }
}
