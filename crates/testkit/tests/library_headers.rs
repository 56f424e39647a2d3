//! Holds every row of the library table against the system's headers.
//!
//! A C++ compiler is asked for the shape of each function's type: sizes and kinds of parameters and result,
//! variadic or not. Functions that the headers do not declare (internal names, other libraries) are listed below and
//! reviewed by hand.

use library::{Class, Contract, contracts};
use std::process::Command;

/// Names that no installed header declares, or declares only as macros or overloads.
const BY_HAND: &[&str] = &[
    // overloaded in C++
    "strchr",
    "strrchr",
    "strstr",
    "strpbrk",
    "memchr",
    "memrchr",
    "rawmemchr",
    "strchrnul",
    "strcasestr",
    "index",
    "rindex",
    "isnan",
    "isinf",
    "wcschr",
    "wcsrchr",
    "wcsstr",
    "wcspbrk",
    "wmemchr",
    // internal to glibc, musl or the compiler's library
    "___errno_location",
    "__h_errno_location",
    "__tls_get_addr",
    "_IO_putc",
    "_IO_getc",
    "gets",
    "__xstat",
    "__fxstat",
    "__lxstat",
    "__chk_fail",
    "__fortify_fail",
    "__stack_chk_fail",
    "__longjmp_chk",
    "__fdelt_chk",
    "__cxa_atexit",
    "_setjmp",
    "__xpg_strerror_r",
    "__sigsetjmp",
    "__ctype_get_mb_cur_max",
    "_longjmp",
    "sigsetjmp",
    "setjmp",
];

const HEADERS: &[&str] = &[
    "stdlib.h",
    "string.h",
    "strings.h",
    "stdio.h",
    "ctype.h",
    "wctype.h",
    "wchar.h",
    "math.h",
    "fenv.h",
    "inttypes.h",
    "time.h",
    "unistd.h",
    "fcntl.h",
    "signal.h",
    "setjmp.h",
    "pthread.h",
    "semaphore.h",
    "sched.h",
    "assert.h",
    "errno.h",
    "err.h",
    "error.h",
    "locale.h",
    "langinfo.h",
    "libintl.h",
    "malloc.h",
    "dlfcn.h",
    "syslog.h",
    "poll.h",
    "getopt.h",
    "pwd.h",
    "dirent.h",
    "search.h",
    "ucontext.h",
    "utime.h",
    "sys/ioctl.h",
    "sys/mman.h",
    "sys/random.h",
    "sys/resource.h",
    "sys/select.h",
    "sys/socket.h",
    "sys/stat.h",
    "sys/time.h",
    "sys/uio.h",
    "sys/utsname.h",
    "sys/wait.h",
    "arpa/inet.h",
    "stdio_ext.h",
];

const SHAPES: &str = "
template <class T> struct Kind { static constexpr int value = sizeof(T); };           // integers: 4, 8
template <class T> struct Kind<T *> { static constexpr int value = 1; };              // pointers
template <class R, class... A> struct Kind<R (*)(A...)> { static constexpr int value = 1; };
template <> struct Kind<void> { static constexpr int value = 0; };
template <> struct Kind<float> { static constexpr int value = 104; };
template <> struct Kind<double> { static constexpr int value = 108; };
template <int... N> struct Shape {};
template <class T> struct Of;
template <class R, class... A> struct Of<R(A...)> { using Type = Shape<0, Kind<R>::value, Kind<A>::value...>; };
template <class R, class... A> struct Of<R(A...) noexcept> { using Type = Shape<0, Kind<R>::value, Kind<A>::value...>; };
template <class R, class... A> struct Of<R(A..., ...)> { using Type = Shape<1, Kind<R>::value, Kind<A>::value...>; };
template <class R, class... A> struct Of<R(A..., ...) noexcept> { using Type = Shape<1, Kind<R>::value, Kind<A>::value...>; };
template <class A, class B> struct Same { static constexpr bool value = false; };
template <class A> struct Same<A, A> { static constexpr bool value = true; };
";

fn kind(class: Class) -> u16 {
    match class {
        Class::Void => 0,
        Class::Pointer => 1,
        Class::Int(bytes) => bytes,
        Class::Float(bytes) => 100 + bytes,
        Class::IntPair => 16,
    }
}

fn assertion(row: &Contract) -> String {
    let arguments: String = row.arguments.iter().map(|class| format!(", {}", kind(*class))).collect();
    let shape = format!("Shape<{}, {}{arguments}>", u8::from(row.variadic), kind(row.result));
    format!("static_assert(Same<Of<decltype(::{0})>::Type, {shape}>::value, \"{0}\");\n", row.name)
}

/// Checked doubles, versions of one function for several standards, arithmetic of the compiler's library.
fn internal(name: &str) -> bool {
    let parts = ["_chk", "isoc", "ti", "di2", "powi", "dfti"];
    name.starts_with("__") && parts.iter().any(|part| name.contains(part))
}

#[test]
fn rows_agree_with_the_headers() {
    let Some(compiler) =
        ["g++", "clang++-19", "clang++", "c++"].into_iter().find(|c| Command::new(c).arg("--version").output().is_ok())
    else {
        panic!("no C++ compiler to read the headers with: install g++ or clang-19");
    };
    let mut text = String::new();
    for header in HEADERS {
        text += &format!("#if __has_include(<{header}>)\n#include <{header}>\n#endif\n");
    }
    text += SHAPES;
    let mut compared = 0;
    for row in contracts() {
        if BY_HAND.contains(&row.name) || internal(row.name) || row.unsupported.is_some() {
            continue;
        }
        text += &assertion(row);
        compared += 1;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("headers.cc");
    std::fs::write(&source, text).expect("a writable scratch folder");
    let output = Command::new(compiler)
        .args(["-std=c++17", "-D_GNU_SOURCE", "-nostdinc++", "-fsyntax-only", "-fmax-errors=0", "-w"])
        .arg(&source)
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(compared >= 350, "only {compared} rows compared");
}
