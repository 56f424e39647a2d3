// equivalent
void k(int a[4], long o[1]) { o[0] = 2; }
