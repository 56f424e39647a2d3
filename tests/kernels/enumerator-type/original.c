enum e { A = 1u };
void k(int o[4], const int x[4]) { o[0] = (A - 2) > 0; }
