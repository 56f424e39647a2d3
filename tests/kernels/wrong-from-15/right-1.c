// equivalent --sweep n=1..20
void s(int n, double a[n], double b[n]) { int i; for (i = 0; i + 3 < n; i += 4) { b[i] = a[i]*a[i]; b[i+1] = a[i+1]*a[i+1]; b[i+2] = a[i+2]*a[i+2]; b[i+3] = a[i+3]*a[i+3]; } for (; i < n; i++) b[i] = a[i]*a[i]; }
