// equivalent
void k(int o[4], const int x[4]) { unsigned char c = x[0]; o[0] = c; }
