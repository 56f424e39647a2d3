static int c = 1; void k(int r[2]) { r[0] = c; c = c * 3 & 255; }
