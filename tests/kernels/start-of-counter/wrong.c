// different
void k(int a[4]) { static int n = 4; a[0] = n++; }
