#ifndef W
#define W 12
#endif
#ifndef H
#define H 10
#endif

void deriche(float a1, float a2, float b1, float b2, float in[W][H], float out[W][H], float y1[W][H],
             float y2[W][H])
{
  float xm;
  float ym1;
  float ym2;
#pragma scop
  {
    for (int c0 = 0; c0 < W; c0 += 1) {
      xm = 0.0f;
      ym2 = 0.0f;
      ym1 = 0.0f;
      for (int c1 = 0; c1 < H; c1 += 1) {
        y1[c0][c1] = a1 * in[c0][c1] + a2 * xm + b1 * ym1 + b2 * ym2;
        ym2 = ym1;
        ym1 = y1[c0][c1];
        xm = in[c0][c1];
      }
    }
    for (int c0 = 0; c0 < W; c0 += 1) {
      ym1 = 0.0f;
      ym2 = 0.0f;
      for (int c1 = 1; c1 <= H; c1 += 1) {
        y2[c0][H - c1] = a2 * in[c0][H - c1] + b1 * ym1 + b2 * ym2;
        ym2 = ym1;
        ym1 = y2[c0][H - c1];
      }
      for (int c1 = 0; c1 < H; c1 += 1)
        out[c0][c1] = 0.5f * (y1[c0][c1] + y2[c0][c1]);
    }
    for (int c0 = 0; c0 < H; c0 += 1) {
      ym1 = 0.0f;
      for (int c1 = 0; c1 < W; c1 += 1) {
        y1[c1][c0] = a1 * out[c1][c0] + b1 * ym1;
        ym1 = y1[c1][c0];
      }
    }
  }
#pragma endscop
}
