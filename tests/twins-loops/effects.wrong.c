/* The last turn, a call, or what a call may change is lost. */
#include "../twins/twins.h"

static int counter;
int shared;
int get_counter(void) {
  ORIGINAL(return counter;)
  CANDIDATE(return counter + 1;)
}

void set_counter(int x) {
  ORIGINAL(counter = x;)
  CANDIDATE(counter = x + 1;)
}

void last_call_lost(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) ext_a(i);)
  CANDIDATE(for (int i = 0; i < n - 1; i++) ext_a(i);)
}

void last_store_lost(int *p, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) *p = i;)
  CANDIDATE(if (n > 1) *p = n - 2; else if (n == 1) *p = 0;)
}

int one_call_more(int n) {
  ORIGINAL(int s = 0; while (s < n) s += ext_a(s); return s;)
  CANDIDATE(int s = 0; do s += ext_a(s); while (s < n); return s;)
}

int called_once(int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) s += ext_a(1); return s;)
  CANDIDATE(if (n <= 0) return 0; return n * ext_a(1);)
}

void calls_reversed(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) ext_a(i);)
  CANDIDATE(for (int i = n - 1; i >= 0; i--) ext_a(i);)
}

void calls_grouped(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { ext_a(i); ext_b(i); })
  CANDIDATE(for (int i = 0; i < n; i++) ext_a(i); for (int i = 0; i < n; i++) ext_b(i);)
}

int local_kept(int n) {
  ORIGINAL(int x = 1; int s = 0; for (int i = 0; i < n; i++) { ext_touch(&x); s += x; } return s;)
  CANDIDATE(int x = 1; int s = 0; for (int i = 0; i < n; i++) { s += x; ext_touch(&x); } return s;)
}

int local_read_once(int n) {
  ORIGINAL(int x = 1; int s = 0; ext_touch(&x); for (int i = 0; i < n; i++) { s += x; ext_a(i); } return s;)
  CANDIDATE(int x = 1; int s = 0; ext_touch(&x); int y = x; for (int i = 0; i < n; i++) { s += y; ext_a(i); } return s;)
}

int global_hoisted(int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n; i++) { ext_a(i); s += shared; } return s;)
  CANDIDATE(int k = shared; int s = 0; for (int i = 0; i < n; i++) { ext_a(i); s += k; } return s;)
}

void global_sunk(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { shared = i; ext_a(i); })
  CANDIDATE(for (int i = 0; i < n; i++) ext_a(i); if (n > 0) shared = n - 1;)
}

void static_sunk(int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { counter = i; ext_a(i); })
  CANDIDATE(for (int i = 0; i < n; i++) ext_a(i); if (n > 0) counter = n - 1;)
}

void stored_without_turn(int n, int x) {
  ORIGINAL(for (int i = 0; i < n; i++) shared = x;)
  CANDIDATE(shared = x;)
}

int pointer_bound(int *p, int n) {
  ORIGINAL(int s = 0; for (int i = 0; i < n && i < *p; i++) s += ext_a(i); return s;)
  CANDIDATE(int s = 0; int m = n > 0 ? *p : 0; for (int i = 0; i < n && i < m; i++) s += ext_a(i); return s;)
}

int flag_polled(const int *flag, int n) {
  ORIGINAL(int k = 0; while (*flag && k < n) { ext_a(k); k++; } return k;)
  CANDIDATE(int k = 0; if (*flag) while (k < n) { ext_a(k); k++; } return k;)
}

int sum_through_pointer(int *sum, const int *a, int n) {
  ORIGINAL(*sum = 0; for (int i = 0; i < n; i++) *sum += a[i]; return *sum;)
  CANDIDATE(int s = 0; for (int i = 0; i < n; i++) s += a[i]; *sum = s; return s;)
}

void log_until(const char *text, int n) {
  ORIGINAL(for (int i = 0; i < n; i++) { if (text[i] == 0) break; ext_log(text + i); })
  CANDIDATE(for (int i = 0; i < n; i++) { ext_log(text + i); if (text[i] == 0) break; })
}
