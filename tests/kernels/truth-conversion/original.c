void k(int o[4], const int x[4]) { _Bool b = x[0] * 0.5; o[0] = b; }
