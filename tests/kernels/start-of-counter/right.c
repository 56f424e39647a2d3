// equivalent
void k(int a[4]) { static int n = 2 + 1; a[0] = n; n += 1; }
