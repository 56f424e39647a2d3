// equivalent --fp ordered
void f(double a[4], double b[4], double c[4]) { for (int i = 3; i >= 0; i--) { double s = a[i]; s += b[i]; c[i] = s; } }
