// equivalent
void k(int o[4], const int x[4]) { switch ((unsigned)x[0]) { case 4294967295: o[0] = 1; break; default: o[0] = 2; } }
