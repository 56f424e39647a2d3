//! Headers of the C library that kernels include. Their functions and types are known by name; what is left are
//! macros.

/// The macros of a header, if it is a known one.
pub(super) fn known(name: &str) -> Option<&'static str> {
    Some(match name {
        "math.h" => MATH,
        "float.h" => FLOAT,
        "limits.h" => LIMITS,
        "stdint.h" | "inttypes.h" => STDINT,
        "stdbool.h" => "#define bool _Bool\n#define true 1\n#define false 0\n",
        "stdio.h" | "stdlib.h" | "string.h" | "stddef.h" | "omp.h" | "assert.h" | "time.h" | "sys/time.h"
        | "unistd.h" | "sched.h" | "sys/types.h" => "#define NULL ((void*)0)\n",
        _ => return None,
    })
}

const MATH: &str = "\
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_LN2 0.69314718055994530942
#define HUGE_VAL (1.0/0.0)
#define INFINITY (1.0f/0.0f)
";

const FLOAT: &str = "\
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN 1.17549435e-38F
#define FLT_EPSILON 1.19209290e-7F
";

const LIMITS: &str = "\
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-2147483647-1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L-1L)
#define ULONG_MAX 18446744073709551615UL
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX 127
#define CHAR_MIN (-128)
";

const STDINT: &str = "\
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) ((int64_t)(c))
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) ((uint32_t)(c))
#define UINT64_C(c) ((uint64_t)(c))
#define INTMAX_C(c) ((int64_t)(c))
#define UINTMAX_C(c) ((uint64_t)(c))
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define UINT64_MAX 18446744073709551615UL
#define INTPTR_MAX 9223372036854775807L
#define UINTPTR_MAX 18446744073709551615UL
#define PTRDIFF_MAX 9223372036854775807L
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647-1)
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807L
#define INT64_MIN (-9223372036854775807L-1L)
#define SIZE_MAX 18446744073709551615UL
";
