void k(int a[8]) { for (unsigned i = 0xfffffffeu; i != 1; i++) switch (i) { case -1: a[0] = 1; break; case 0: a[1] = 1; } }
