void k(int a[8]) { switch (a[1]) { case 0x100000000L: a[0] = 1; break; } }
