// equivalent --param n=4 --param m=5
void f(int n, int m, double *a_, double *b_) { double (*a)[m] = (double (*)[m])a_; double (*b)[n] = (void *)b_; for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) b[j][i] = a[i][j]; }
