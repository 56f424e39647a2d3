void tr(int n, const float *in, float *out) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) out[j * n + i] = in[i * n + j]; }
