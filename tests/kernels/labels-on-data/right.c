// equivalent
void k(int a[8]) { if (a[1] == 0) a[0] = 1; }
