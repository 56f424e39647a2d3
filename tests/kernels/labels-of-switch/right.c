// equivalent
void k(int a[8]) { a[0] = 1; a[1] = 1; }
