long sum(int n, const int a[n], int *mx) { long s = 0; *mx = a[0]; for (int i = 0; i < n; i++) { s += a[i]; if (a[i] > *mx) *mx = a[i]; } return s; }
