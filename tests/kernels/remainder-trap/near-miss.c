// different
void k(int a[8]) { a[0] = a[1] / a[2] + 1; }
