// different
void k(int o[4], const int x[4]) { o[0] = x[0]; }
