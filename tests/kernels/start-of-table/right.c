// equivalent
void k(int a[8]) { for (int i = 0; i < 4; i++) a[i] = i + 1; }
