// equivalent
void k(int a[4], int b[4], int o[1]) { o[0] = a < a + 4; }
