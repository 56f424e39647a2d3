// unknown unsupported --param n=5
void bytes(int n, unsigned char p[n], int key) {
  for (int i = 0; i < n; i++)
    p[i] = p[p[0]] + key;
}
