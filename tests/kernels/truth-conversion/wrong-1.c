// different
void k(int o[4], const int x[4]) { int t = x[0] * 0.5; o[0] = t != 0; }
