struct in { char c; double x; }; struct out { char d; struct in v[2]; short s; }; void k(struct out p[2]) { p[0].v[1].x = p[1].v[0].x + p[1].s; }
