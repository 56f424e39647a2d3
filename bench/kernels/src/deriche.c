/* deriche: recursive smoothing filter, both directions of both axes, in single precision. params: W=12 H=10 */
#ifndef W
#define W 12
#endif
#ifndef H
#define H 10
#endif

void deriche(float a1, float a2, float b1, float b2, float in[W][H], float out[W][H], float y1[W][H],
             float y2[W][H])
{
  float xm, ym1, ym2;
#pragma scop
  for (int i = 0; i < W; i++) {
    ym1 = 0.0f;
    ym2 = 0.0f;
    xm = 0.0f;
    for (int j = 0; j < H; j++) {
      y1[i][j] = a1 * in[i][j] + a2 * xm + b1 * ym1 + b2 * ym2;
      xm = in[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int i = 0; i < W; i++) {
    ym1 = 0.0f;
    ym2 = 0.0f;
    for (int j = H - 1; j >= 0; j--) {
      y2[i][j] = a2 * in[i][j] + b1 * ym1 + b2 * ym2;
      ym2 = ym1;
      ym1 = y2[i][j];
    }
  }
  for (int i = 0; i < W; i++)
    for (int j = 0; j < H; j++)
      out[i][j] = 0.5f * (y1[i][j] + y2[i][j]);
  for (int j = 0; j < H; j++) {
    ym1 = 0.0f;
    for (int i = 0; i < W; i++) {
      y1[i][j] = a1 * out[i][j] + b1 * ym1;
      ym1 = y1[i][j];
    }
  }
#pragma endscop
}
