// different missing-update line 11 at n=0,o=0,y=0,x=0,c=0,r=0,s=0 --fp ieee
#include <stddef.h>
enum { NB = 2, CO = 3, CI = 2, H = 6, W = 7, R = 3 };
void conv(float *out, const float *in, const float *w) {
  const size_t ih = H + R - 1, iw = W + R - 1;
  for (size_t n = 0; n < NB; ++n)
    for (size_t y0 = 0; y0 < H; y0 += 4)
      for (size_t o = 0; o < CO; ++o)
        for (size_t y = y0; y < (y0 + 4 < H ? y0 + 4 : H); ++y) {
          float *row = out + ((n * CO + o) * H + y) * W;
          for (size_t x = 0; x < W; ++x) {
            double acc = 0;
            for (int c = 0; c < CI; ++c)
              for (int r = 0; r < R; ++r) {
                const float *p = &in[((n * CI + c) * ih + y + r) * iw + x];
                const float *q = w + ((o * CI + c) * R + r) * R;
                int s = R;
                do { acc += *p++ * *q++; } while (--s);
              }
            row[x] = acc;
          }
        }
}
