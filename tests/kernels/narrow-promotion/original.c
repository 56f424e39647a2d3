void k(int o[4], const int x[4]) { unsigned short a = x[0]; o[0] = a - 1 < 0; }
