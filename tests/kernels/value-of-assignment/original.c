void k(int o[4], const int x[4]) { unsigned char c; o[0] = (c = x[0]); }
