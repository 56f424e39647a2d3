void f(unsigned char a[4], unsigned r[4]) { unsigned h = 2166136261u; for (int i = 0; i < 4; i++) { h ^= a[i]; h *= 16777619u; r[i] = h; } }
