// equivalent --param n=5
void bytes(int n, unsigned char p[n], int key) {
  unsigned char *q = p + n;
  int i = n;
  while (i-- > 0) {
    q--;
    *q = i ^ (key * 3 + *q);
  }
}
