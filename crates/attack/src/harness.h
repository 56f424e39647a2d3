/* What generated harnesses use; runtime.c defines it. */
typedef unsigned long u64;
typedef unsigned __int128 u128;
struct attack_case { int id; void (*run)(void); };
extern const struct attack_case attack_cases[];
/* Number of the input, from 0. */
extern int input;
/* Seeded values: a random number, a number that programs stumble over, a small one. */
u64 rnd(void);
u64 any(void);
u128 any128(void);
double any_float(void);
/* A pointer into memory of the harness, in which 64 bytes before and behind it are there. */
void *any_pointer(void);
/* Observations. Pointers are observed relative to the harness's memory, NaNs as one. */
void see_number(u64);
void see128(u128);
void see_float(double);
void see_extended(long double);
void see_pointer(const volatile void *);
void see_text(const char *);
void see_label(const char *);
void see_bytes(const volatile void *, u64);
/* Ends the run of this input: for callees that never return. */
void leave(void) __attribute__((noreturn));
#define ARENA __attribute__((section("arena"), aligned(32)))
/* Objects of a device: between device_on and device_off each access is observed, in order, and changes what the next one finds. */
#define DEVICE __attribute__((section("device"), aligned(16)))
#ifdef ASSUMED
/* The runs meet what a proof may assume: devices are ordinary memory, of which only what is left in it is observed, and functions with
   names of the library do what the library's do. */
void see_device(void);
#define device_on()
#define device_off() see_device()
#else
void device_on(void);
void device_off(void);
#endif
#define DRIVE(variable, value) do { if ((input & 3) == 3) (variable) = (value); } while (0)
#ifndef va_start
typedef __builtin_va_list va_list;
#endif
