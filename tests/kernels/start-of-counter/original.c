void k(int a[4]) { static int n = 3; a[0] = n++; }
