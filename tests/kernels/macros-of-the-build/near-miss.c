// different
void k(int a[8]) { a[0] = 3; }
