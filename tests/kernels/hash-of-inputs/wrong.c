// different
void k(int a[4], long x[4], long o[1]) { o[0] = a[2]; }
