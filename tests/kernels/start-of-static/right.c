// equivalent
void k(int a[4]) { a[0] = 3; }
