void k(int a[8]) { static int t[4] = { 1, 2, 3, 4 }; for (int i = 0; i < 4; i++) a[i] = t[i]; }
