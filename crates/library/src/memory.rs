//! Rows: blocks of memory and the heap.

use super::words::{I, L, P, V, event, reader, sign};
use super::{Contract, Effect};

pub(super) static TABLE: &[Contract] = &[
    // string.h: copy and fill
    event("memcpy", P, &[P, P, L]).effect(Effect::CopyMemory).nonnull(&[0, 1]),
    event("memmove", P, &[P, P, L]).effect(Effect::CopyMemory).nonnull(&[0, 1]),
    event("memset", P, &[P, I, L]).effect(Effect::FillMemory).nonnull(&[0]),
    event("mempcpy", P, &[P, P, L]).nonnull(&[0, 1]),
    event("memccpy", P, &[P, P, I, L]).nonnull(&[0, 1]),
    event("explicit_bzero", V, &[P, L]).nonnull(&[0]),
    event("bzero", V, &[P, L]).nonnull(&[0]),
    event("bcopy", V, &[P, P, L]).nonnull(&[0, 1]),
    event("swab", V, &[P, P, L]).nonnull(&[0, 1]),
    // string.h: compare and find
    sign("memcmp", I, &[P, P, L]).nonnull(&[0, 1]),
    sign("bcmp", I, &[P, P, L]).nonnull(&[0, 1]),
    reader("memchr", P, &[P, I, L]).nonnull(&[0]),
    reader("memrchr", P, &[P, I, L]).nonnull(&[0]),
    reader("rawmemchr", P, &[P, I]).nonnull(&[0]),
    reader("memmem", P, &[P, L, P, L]).nonnull(&[0, 2]),
    // wchar.h: the same for wide characters
    event("wmemcpy", P, &[P, P, L]),
    event("wmemmove", P, &[P, P, L]),
    event("wmemset", P, &[P, I, L]),
    sign("wmemcmp", I, &[P, P, L]),
    reader("wmemchr", P, &[P, I, L]),
    // The heap. `realloc` may return the old address, `posix_memalign` returns through memory.
    event("malloc", P, &[L]).effect(Effect::Allocate),
    event("calloc", P, &[L, L]).effect(Effect::Allocate),
    event("aligned_alloc", P, &[L, L]).effect(Effect::Allocate),
    event("memalign", P, &[L, L]).effect(Effect::Allocate),
    event("valloc", P, &[L]).effect(Effect::Allocate),
    event("strdup", P, &[P]).effect(Effect::Allocate).nonnull(&[0]),
    event("strndup", P, &[P, L]).effect(Effect::Allocate).nonnull(&[0]),
    event("wcsdup", P, &[P]).effect(Effect::Allocate),
    event("realloc", P, &[P, L]),
    event("reallocarray", P, &[P, L, L]),
    event("posix_memalign", I, &[P, L, L]).nonnull(&[0]),
    event("free", V, &[P]),
    event("malloc_usable_size", L, &[P]),
];
