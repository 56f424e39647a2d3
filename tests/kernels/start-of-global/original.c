int g = 1; void k(int a[2]) { a[0] = g; g = a[1]; }
