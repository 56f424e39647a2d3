/* Runs every case of a harness on seeded inputs and writes a hash of what was observed for each input.
 *
 *   harness SEED FIRST COUNT VERBOSE [CASE...]
 *
 * Each case runs in a child of its own with limits on time and memory. For each case the output has the numbers
 * id, inputs done, signal, then one hash per input done, all as 64 bits. VERBOSE writes the observations as text instead. */
#define _GNU_SOURCE
#include "harness.h"
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

int input;
static u64 state, hash;
static int verbose;
static jmp_buf back;
static unsigned char scratch[512] ARENA;
extern unsigned char __start_arena[], __stop_arena[];

u64 rnd(void) {
    u64 z = (state += 0x9E3779B97F4A7C15ul);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
    return z ^ (z >> 31);
}

u64 any(void) {
    u64 r = rnd();
    switch (r >> 60) {
    case 0: case 1: case 2: case 3: return r & 7;
    case 4: case 5: return -(r & 7);
    case 6: return r & 0xff;
    case 7: return 1ul << (r & 63);
    case 8: return (1ul << (r & 63)) - 1;
    case 9: return (r & 0xffffffff);
    case 10: return -(1ul << (r & 63));
    default: return rnd();
    }
}

u128 any128(void) { u128 high = any(); return high << 64 | any(); }

double any_float(void) {
    u64 r = rnd();
    switch (r >> 60) {
    case 0: return 0;
    case 1: return -0.0;
    case 2: return 1;
    case 3: return (r & 1) ? INFINITY : -INFINITY;
    case 4: return NAN;
    case 5: case 6: case 7: return (double)(int)(r & 0xff) - 128;
    case 8: return (double)(long)r;
    case 9: return 0.5 + (r & 15);
    default: return ((double)(long)rnd()) / 4294967296.0;
    }
}

void *any_pointer(void) { return scratch + 64 + (rnd() & 15) * 16; }

static void add(const void *bytes, u64 n) {
    const unsigned char *p = bytes;
    for (u64 i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001B3ul;
    hash ^= hash >> 29;
}

#define SHOW(...) do { if (verbose > 0) dprintf(1, __VA_ARGS__); } while (0)
void see_number(u64 v) { SHOW(" %#lx", v); add(&v, 8); }
void see128(u128 v) { SHOW(" %#lx:%#lx", (u64)(v >> 64), (u64)v); add(&v, 16); }
void see_float(double v) {
    u64 bits;
    memcpy(&bits, &v, 8);
    if (v != v) bits = ~0ul;
    SHOW(" %g", v);
    add(&bits, 8);
}
void see_extended(long double v) {
    unsigned char bytes[10];
    memcpy(bytes, &v, 10);
    if (v != v) memset(bytes, 255, 10);
    SHOW(" %Lg", v);
    add(bytes, 10);
}
void see_pointer(const volatile void *v) {
    const unsigned char *p = (const unsigned char *)v;
    u64 place = !p ? 0 : p >= __start_arena && p <= __stop_arena ? (u64)(p - __start_arena) + 16 : 1;
    SHOW(" pointer %ld", (long)place);
    add(&place, 8);
}
void see_text(const char *text) {
    u64 n = 0;
    while (n < 400 && text[n]) n++;
    SHOW(" \"%.*s\"", (int)n, text);
    add(text, n);
    see_number(n);
}
void see_label(const char *text) { SHOW("\n    %s:", text); add(text, strlen(text)); }
void see_bytes(const volatile void *p, u64 n) {
    for (u64 i = 0; verbose > 0 && i < n; i++) dprintf(1, " %02x", ((const unsigned char *)p)[i]);
    add((const void *)p, n);
}

/* Output of the programs: what is written counts, not by which calls. */
static int put(const char *bytes, u64 n) {
    SHOW(" writes \"%.*s\"", (int)n, bytes);
    for (u64 i = 0; i < n; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3ul;
    return 1;
}
int puts(const char *text) { put(text, strlen(text)); return put("\n", 1); }
int putchar(int c) { char b = (char)c; put(&b, 1); return c & 255; }
int fputc(int c, FILE *f) { (void)f; return putchar(c); }
int putc(int c, FILE *f) { (void)f; return putchar(c); }
int fputs(const char *text, FILE *f) { (void)f; return put(text, strlen(text)); }
size_t fwrite(const void *p, size_t size, size_t n, FILE *f) { (void)f; put(p, size * n); return n; }
int printf(const char *format, ...) {
    char text[512];
    va_list l;
    __builtin_va_start(l, format);
    int n = vsnprintf(text, sizeof text, format, l);
    __builtin_va_end(l);
    return put(text, strlen(text)) * n;
}

/* The device: its pages are taken away; an access brings them back for one instruction. */
static unsigned char device_end[4096] __attribute__((section("device"), aligned(4096))) = { 1 };
extern unsigned char __start_device[], __stop_device[];
static u64 device_count, device_at;
static void device_protect(int protection) { mprotect(__start_device, (u64)(__stop_device - __start_device), protection); }

static void device_fault(int signal, siginfo_t *info, void *context) {
    ucontext_t *u = context;
    const unsigned char *p = info->si_addr;
    if (signal != SIGSEGV || p < __start_device || p >= __stop_device) {
        struct sigaction usual = { .sa_handler = SIG_DFL };
        sigaction(SIGSEGV, &usual, 0);
        return;
    }
    device_at = (u64)(p - __start_device);
    u64 access[2] = { device_at, (u64)u->uc_mcontext.gregs[REG_ERR] & 2 };
    SHOW(" %s device+%lu", access[1] ? "writes" : "reads", device_at);
    add(access, sizeof access);
    device_protect(PROT_READ | PROT_WRITE);
    __start_device[device_at & ~7ul] += 3 + 2 * (++device_count & 7);
    u->uc_mcontext.gregs[REG_EFL] |= 0x100;
}

static void device_step(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    u64 word;
    memcpy(&word, __start_device + (device_at & ~7ul), 8);
    add(&word, 8);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100ul;
    device_protect(PROT_NONE);
}

void device_on(void) {
    struct sigaction fault = { .sa_sigaction = device_fault, .sa_flags = SA_SIGINFO }, step = { .sa_sigaction = device_step, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &fault, 0);
    sigaction(SIGTRAP, &step, 0);
    device_count = device_end[0];
    device_protect(PROT_NONE);
}

void device_off(void) { device_protect(PROT_READ | PROT_WRITE); }

void see_device(void) { see_bytes(__start_device, (u64)(device_end - __start_device)); }

void leave(void) { longjmp(back, 1); }

static void run_case(const struct attack_case *c, u64 seed, int first, int count, u64 *done) {
    struct rlimit memory = { 1ul << 30, 1ul << 30 }, core = { 0, 0 };
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &core);
    /* Of processor time: the machine may be busy. */
    struct rlimit time = { 4, 5 };
    setrlimit(RLIMIT_CPU, &time);
    for (volatile int i = 0; i < first + count; i++) {
        input = i;
        state = seed * 0x2545F4914F6CDD1Dul + (u64)i * 0xD1342543DE82EF95ul + (u64)c->id;
        if (verbose == -i - 1) verbose = 1;
        hash = 0xCBF29CE484222325ul;
        for (u64 k = 0; k < sizeof scratch; k++) scratch[k] = rnd() & 3;
        if (verbose > 0) dprintf(1, "case %d input %d", c->id, i);
        if (setjmp(back)) see_label("left");
        else c->run();
        add(scratch, sizeof scratch);
        if (verbose > 0) dprintf(1, "\n");
        done[1 + i] = hash;
        done[0] = (u64)i + 1;
        if (verbose > 0 && i >= first) verbose = 0;
    }
}

/* Not the library's: a program may have its own strtol, which atoi would call. */
static u64 number(const char *digits) {
    u64 n = 0;
    while (*digits) n = n * 10 + (u64)(*digits++ - '0');
    return n;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    u64 seed = number(argv[1]);
    int first = (int)number(argv[2]), count = (int)number(argv[3]);
    int show = (int)number(argv[4]);
    u64 size = 8ul * (u64)(first + count + 2);
    u64 *done = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (done == MAP_FAILED) return 2;
    for (const struct attack_case *c = attack_cases; c->run; c++) {
        int wanted = argc == 5;
        for (int k = 5; k < argc; k++) wanted |= (int)number(argv[k]) == c->id;
        if (!wanted) continue;
        done[0] = 0;
        int child = fork();
        if (child < 0) return 2;
        if (child == 0) {
            verbose = show ? -first - 1 : 0;
            run_case(c, seed, first, count, done);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        u64 head[3] = { (u64)c->id, done[0], WIFSIGNALED(status) ? (u64)WTERMSIG(status) : 0 };
        if (show) {
            if (head[2]) dprintf(1, "\ncase %d input %d: signal %d\n", c->id, (int)done[0], (int)head[2]);
            continue;
        }
        if (write(1, head, sizeof head) < 0) return 2;
        const char *bytes = (const char *)(done + 1);
        for (u64 left = 8 * done[0]; left;) {
            long n = write(1, bytes, left);
            if (n <= 0) return 2;
            bytes += n;
            left -= (u64)n;
        }
    }
    return 0;
}
