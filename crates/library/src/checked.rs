//! Rows: the checked doubles of `_FORTIFY_SOURCE`. They abort when an object is too small, so they are events;
//! [`super::rename`] turns a call that cannot abort into the function that it checks.

use super::Contract;
use super::words::{I, L, P, event};

pub(super) static TABLE: &[Contract] = &[
    event("__memcpy_chk", P, &[P, P, L, L]).nonnull(&[0, 1]),
    event("__memmove_chk", P, &[P, P, L, L]).nonnull(&[0, 1]),
    event("__mempcpy_chk", P, &[P, P, L, L]).nonnull(&[0, 1]),
    event("__memset_chk", P, &[P, I, L, L]).nonnull(&[0]),
    event("__strcpy_chk", P, &[P, P, L]).nonnull(&[0, 1]),
    event("__stpcpy_chk", P, &[P, P, L]).nonnull(&[0, 1]),
    event("__strncpy_chk", P, &[P, P, L, L]).nonnull(&[0, 1]),
    event("__strcat_chk", P, &[P, P, L]).nonnull(&[0, 1]),
    event("__strncat_chk", P, &[P, P, L, L]).nonnull(&[0, 1]),
    event("__printf_chk", I, &[I, P]).variadic().nonnull(&[1]),
    event("__fprintf_chk", I, &[P, I, P]).variadic().nonnull(&[2]),
    event("__sprintf_chk", I, &[P, I, L, P]).variadic().nonnull(&[0, 3]),
    event("__snprintf_chk", I, &[P, L, I, L, P]).variadic().nonnull(&[4]),
    event("__vprintf_chk", I, &[I, P, P]).nonnull(&[1]),
    event("__vfprintf_chk", I, &[P, I, P, P]).nonnull(&[2]),
    event("__vsprintf_chk", I, &[P, I, L, P, P]).nonnull(&[0, 3]),
    event("__vsnprintf_chk", I, &[P, L, I, L, P, P]).nonnull(&[4]),
    event("__asprintf_chk", I, &[P, I, P]).variadic(),
    event("__dprintf_chk", I, &[I, I, P]).variadic(),
    event("__fgets_chk", P, &[P, L, I, P]),
    event("__fread_chk", L, &[P, L, L, L, P]),
    event("__read_chk", L, &[I, P, L, L]),
    event("__pread_chk", L, &[I, P, L, L, L]),
    event("__readlink_chk", L, &[P, P, L, L]),
    event("__getcwd_chk", P, &[P, L, L]),
    event("__realpath_chk", P, &[P, P, L]),
    event("__recv_chk", L, &[I, P, L, L, I]),
    event("__fdelt_chk", L, &[L]),
];
