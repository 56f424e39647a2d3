enum e { A = -1, B }; void k(int a[8]) { enum e x = B; a[0] = x - 1 < 0; }
