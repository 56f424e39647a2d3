// different
void k(int a[8]) { a[1] = 1; }
