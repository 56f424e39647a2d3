// equivalent
void k(int a[8]) { int t = a[1] % a[2]; a[0] = a[1] / a[2]; }
