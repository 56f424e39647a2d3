// different
void k(int o[4], const int x[4]) { unsigned a = (unsigned short)x[0]; o[0] = a - 1 < 0; }
