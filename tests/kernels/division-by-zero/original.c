void k(int a[4], int b[4]) { b[0] = a[0]; }
