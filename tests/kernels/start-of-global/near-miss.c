// different
int g = 1; void k(int a[2]) { a[0] = g + 1; g = a[1]; }
