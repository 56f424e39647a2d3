// equivalent
void k(int a[4], long x[4], long o[1]) { long t = x[0]; o[0] = t; }
