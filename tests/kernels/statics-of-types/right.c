// equivalent
static int c = 1; void k(int r[2]) { int t = c; c = (c + c + c) & 255; r[0] = t; c = t * 3 & 255; }
