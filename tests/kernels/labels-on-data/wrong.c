// different
void k(int a[8]) { }
