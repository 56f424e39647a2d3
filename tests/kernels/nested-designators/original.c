struct pt { double x, y; };
struct w { struct pt p[2]; int k; };
void f(double o[4], double a, double b) { o[0] = a; o[1] = b; o[2] = 3; o[3] = 0; }
