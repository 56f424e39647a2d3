//! When a row of the table is about the function that a program calls.
//!
//! A name alone says little: a program may have its own `index`, `err` or `finite`. A row applies to a call if
//! - neither file defines the name, under any binding;
//! - no declaration of it in either file disagrees with the row: number, classes and widths of the arguments and the result,
//!   variadic or not;
//! - the original itself declares it so, or the name is one that no program may define: ISO C reserves the names of its library
//!   and all that begin with an underscore (7.1.3), POSIX its own (XSH 2.2.2). Unoptimised code of clang has no declarations.
//!
//! Trust: full. Every proof that uses a row names it: `library(name)`.

use super::{Contract, contract};
use program::{Function, Signature, Value};

/// The row about a function that a pair calls by this name.
pub fn applicable(functions: [&Function; 2], name: &str) -> Option<&'static Contract> {
    let row = contract(name)?;
    if functions.iter().any(|f| f.defined.contains(name)) {
        return None;
    }
    let [original, candidate] = functions;
    let own = original.callees.get(name).filter(|_| !original.adopted.contains(name));
    let undisputed = original.callees.get(name).into_iter().chain(candidate.callees.get(name)).all(|s| agrees(row, s));
    (undisputed && (own.is_some() || is_reserved(name))).then_some(row)
}

/// The row about a function that a file calls by this name and does not define, given how the file declares it.
pub fn row(name: &str, declared: Option<&Signature>) -> Option<&'static Contract> {
    let row = contract(name)?;
    match declared {
        Some(signature) => agrees(row, signature),
        None => is_reserved(name),
    }
    .then_some(row)
}

/// Does a declaration say what the row says?
fn agrees(row: &Contract, declared: &Signature) -> bool {
    let expected = row.signature();
    let same = |a: &[Value], b: &[Value]| {
        let plain = |v: &Value| !v.boolean && v.narrow.is_none();
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.place == b.place && a.bytes == b.bytes && plain(b))
    };
    let returns = !row.noreturn || declared.noreturn || is_reserved(row.name);
    declared.unsupported.is_none()
        && declared.variadic == row.variadic
        && same(&expected.arguments, &declared.arguments)
        && same(&expected.results, &declared.results)
        && returns
}

/// May no program define an external name of its own that is spelled so?
pub fn is_reserved(name: &str) -> bool {
    name.starts_with('_') || ISO_C.contains(&name) || POSIX.contains(&name) || EMITTED.contains(&name)
}

/// Names that optimisers put into code of which the source does not mention them: they rely on nobody else having them.
const EMITTED: &[&str] = &["bcmp"];

/// Names of the library of ISO C (7.1.3, and 7.31 for `str`, `mem`, `wcs`, `is`, `to` and what follows).
#[rustfmt::skip]
const ISO_C: &[&str] = &[
    // string.h
    "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strncmp", "strchr", "strrchr", "strstr", "strspn",
    "strcspn", "strpbrk", "strcpy", "strncpy", "strcat", "strncat", "strtok", "strcoll", "strxfrm", "strerror", "memccpy",
    "strdup", "strndup",
    // ctype.h, wctype.h
    "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint", "ispunct", "isspace", "isupper",
    "isxdigit", "tolower", "toupper", "iswalnum", "iswalpha", "iswblank", "iswcntrl", "iswdigit", "iswgraph", "iswlower",
    "iswprint", "iswpunct", "iswspace", "iswupper", "iswxdigit", "towlower", "towupper", "iswctype", "wctype",
    // wchar.h
    "wcslen", "wcscmp", "wcsncmp", "wcschr", "wcsrchr", "wcsstr", "wcsspn", "wcscspn", "wcspbrk", "wcscpy", "wcsncpy", "wcscat",
    "wcsncat", "btowc", "wctob", "mbrtowc", "wcrtomb", "mbrlen", "mbsinit", "mbsrtowcs", "wcsrtombs", "wcstol", "wcstoul",
    "wmemcpy", "wmemmove", "wmemset", "wmemcmp", "wmemchr", "wprintf", "fwprintf", "swprintf", "fputwc", "putwchar", "fgetwc",
    // locale.h, stdlib.h
    "setlocale", "localeconv", "mbtowc", "wctomb", "mblen", "mbstowcs", "wcstombs", "atoi", "atol", "atoll", "atof", "strtol",
    "strtoul", "strtoll", "strtoull", "strtoimax", "strtoumax", "strtod", "strtof", "strtold", "rand", "srand", "qsort",
    "bsearch", "getenv", "system", "atexit", "exit", "quick_exit", "at_quick_exit", "abort", "malloc", "calloc", "realloc",
    "aligned_alloc", "free", "abs", "labs", "llabs", "imaxabs", "div", "ldiv", "lldiv", "imaxdiv",
    // setjmp.h, signal.h, time.h
    "setjmp", "longjmp", "signal", "raise", "time", "clock", "mktime", "gmtime", "localtime", "asctime", "ctime", "strftime",
    "difftime",
    // stdio.h
    "printf", "fprintf", "sprintf", "snprintf", "vprintf", "vfprintf", "vsprintf", "vsnprintf", "scanf", "fscanf", "sscanf",
    "vscanf", "vfscanf", "vsscanf", "puts", "putchar", "fputs", "fputc", "putc", "getchar", "fgetc", "getc", "ungetc", "gets",
    "fgets", "fread", "fwrite", "fopen", "freopen", "tmpfile", "tmpnam", "fclose", "fflush", "setbuf", "setvbuf", "fseek",
    "ftell", "rewind", "fgetpos", "fsetpos", "feof", "ferror", "clearerr", "remove", "rename", "perror",
    // math.h, fenv.h
    "fabs", "floor", "ceil", "trunc", "round", "copysign", "fmin", "fmax", "fabsf", "floorf", "ceilf", "truncf", "roundf",
    "copysignf", "fminf", "fmaxf", "rint", "nearbyint", "atan", "cbrt", "rintf", "nearbyintf", "atanf", "cbrtf", "sqrt", "sin",
    "cos", "tan", "asin", "acos", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log", "log2",
    "log10", "log1p", "logb", "erf", "erfc", "lgamma", "tgamma", "pow", "atan2", "hypot", "fmod", "remainder", "fdim",
    "nextafter", "fma", "ldexp", "scalbn", "ilogb", "lround", "lrint", "llround", "llrint", "sqrtf", "sinf", "cosf", "tanf",
    "asinf", "acosf", "sinhf", "coshf", "tanhf", "expf", "exp2f", "expm1f", "logf", "log2f", "log10f", "log1pf", "powf",
    "atan2f", "hypotf", "fmodf", "fdimf", "fmaf", "ldexpf", "scalbnf", "lroundf", "lrintf", "frexp", "modf", "remquo", "frexpf",
    "modff", "fegetround", "fesetround", "feclearexcept", "feraiseexcept", "fetestexcept",
];

/// Names that POSIX.1-2008 reserves beyond those of ISO C, and those of libintl.h, which POSIX.1-2024 adds.
#[rustfmt::skip]
const POSIX: &[&str] = &[
    // libintl.h
    "gettext", "dgettext", "dcgettext", "ngettext", "dngettext", "dcngettext", "textdomain", "bindtextdomain",
    "bind_textdomain_codeset",
    // string.h, strings.h, wchar.h, locale.h, langinfo.h, ctype.h
    "strnlen", "strcasecmp", "strncasecmp", "stpcpy", "stpncpy", "strtok_r", "strsignal", "ffs", "wcsnlen", "wcscasecmp",
    "wcsncasecmp", "wcsdup", "nl_langinfo", "isascii", "toascii", "swab",
    // stdlib.h
    "posix_memalign", "setenv", "unsetenv", "putenv", "mkstemp", "mkdtemp", "realpath", "random", "srandom", "rand_r", "drand48",
    "lrand48", "mrand48", "srand48", "a64l", "l64a",
    // stdio.h
    "dprintf", "vdprintf", "putchar_unlocked", "putc_unlocked", "getchar_unlocked", "getc_unlocked", "getline", "getdelim",
    "fdopen", "fmemopen", "open_memstream", "popen", "pclose", "fseeko", "ftello", "fileno", "flockfile", "funlockfile",
    // setjmp.h, signal.h, time.h, sys/time.h
    "sigsetjmp", "siglongjmp", "kill", "sigaction", "sigemptyset", "sigfillset", "sigaddset", "sigdelset", "sigismember",
    "sigprocmask", "gmtime_r", "localtime_r", "ctime_r", "strptime", "clock_gettime", "clock_getres", "nanosleep",
    "gettimeofday", "tzset",
    // fcntl.h, unistd.h, sys/stat.h, dirent.h
    "open", "openat", "creat", "fcntl", "ioctl", "close", "read", "write", "pread", "pwrite", "readv", "writev", "lseek", "dup",
    "dup2", "pipe", "fsync", "fdatasync", "ftruncate", "truncate", "isatty", "access", "unlink", "unlinkat", "rmdir", "mkdir",
    "mkdirat", "link", "symlink", "readlink", "readlinkat", "chdir", "fchdir", "getcwd", "chmod", "fchmod", "chown", "fchown",
    "lchown", "umask", "stat", "fstat", "lstat", "fstatat", "utime", "utimes", "opendir", "readdir", "closedir", "fork",
    "execl", "execlp", "execv", "execvp", "execve", "wait", "waitpid", "getpid", "getppid", "getuid", "geteuid", "getgid",
    "getegid", "setuid", "setgid", "sleep", "alarm", "pause", "sysconf", "pathconf", "gethostname", "getlogin", "getopt",
    "getpwnam", "getpwuid", "getrlimit", "setrlimit", "getrusage", "uname",
    // sys/mman.h, sys/socket.h, poll.h, sys/select.h, arpa/inet.h, dlfcn.h, syslog.h
    "mmap", "munmap", "mprotect", "msync", "socket", "bind", "listen", "accept", "connect", "send", "recv", "sendto",
    "recvfrom", "shutdown", "setsockopt", "getsockopt", "poll", "select", "htonl", "ntohl", "dlopen", "dlsym", "dlclose",
    "dlerror", "openlog", "syslog", "closelog",
    // pthread.h, sched.h, semaphore.h
    "pthread_self", "pthread_equal", "pthread_create", "pthread_join", "pthread_detach", "pthread_cancel", "pthread_kill",
    "pthread_exit", "pthread_once", "pthread_mutex_init", "pthread_mutex_destroy", "pthread_mutex_lock",
    "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_mutexattr_init", "pthread_mutexattr_destroy",
    "pthread_mutexattr_settype", "pthread_rwlock_init", "pthread_rwlock_destroy", "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock", "pthread_rwlock_unlock", "pthread_cond_init", "pthread_cond_destroy", "pthread_cond_wait",
    "pthread_cond_timedwait", "pthread_cond_signal", "pthread_cond_broadcast", "pthread_key_create", "pthread_key_delete",
    "pthread_getspecific", "pthread_setspecific", "pthread_attr_init", "pthread_attr_destroy", "pthread_attr_setstacksize",
    "pthread_attr_setdetachstate", "pthread_sigmask", "sched_yield", "sem_init", "sem_destroy", "sem_wait", "sem_trywait",
    "sem_post",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn declaring(name: &str, signature: Signature) -> Function {
        Function { callees: BTreeMap::from([(name.to_string(), signature)]), ..Function::default() }
    }

    fn applies(original: &Function, candidate: &Function, name: &str) -> bool {
        applicable([original, candidate], name).is_some()
    }

    #[test]
    fn reserved_names_need_no_declaration() {
        let silent = Function::default();
        for (name, expected) in
            [("strlen", true), ("read", true), ("__errno_location", true), ("index", false), ("err", false)]
        {
            assert_eq!(applies(&silent, &silent, name), expected, "{name}");
        }
    }

    #[test]
    fn a_declaration_must_agree() {
        let silent = Function::default();
        let right = contract("finite").unwrap().signature();
        let integer = contract("isdigit").unwrap().signature();
        assert!(applies(&declaring("finite", right.clone()), &silent, "finite"));
        assert!(!applies(&declaring("finite", integer.clone()), &silent, "finite"));
        assert!(
            !applies(&silent, &declaring("finite", right.clone()), "finite"),
            "the candidate's alone is no evidence"
        );
        let mut adopted = declaring("finite", right);
        adopted.adopted.insert("finite".to_string());
        assert!(!applies(&adopted, &silent, "finite"));
        assert!(
            !applies(&declaring("strlen", integer.clone()), &silent, "strlen"),
            "reserved, and yet another function"
        );
        assert!(!applies(&silent, &declaring("strlen", integer), "strlen"));
    }

    #[test]
    fn only_a_declaration_makes_err_not_return() {
        let silent = Function::default();
        let mut signature = contract("err").unwrap().signature();
        assert!(applies(&declaring("err", signature.clone()), &silent, "err"));
        signature.noreturn = false;
        assert!(!applies(&declaring("err", signature), &silent, "err"));
    }

    #[test]
    fn a_definition_is_the_programs_own() {
        let own = Function { defined: BTreeSet::from(["strlen".to_string()]), ..Function::default() };
        assert!(!applies(&own, &Function::default(), "strlen"));
        assert!(!applies(&Function::default(), &own, "strlen"));
    }
}
