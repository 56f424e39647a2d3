// equivalent
int g = 1; void k(int a[2]) { int t = g; g = a[1]; a[0] = t; }
