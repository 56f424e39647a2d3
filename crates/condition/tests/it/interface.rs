//! The interface of a function of a C text.

use condition::Interface;
use program::Side;
use std::process::Command;

/// Compiles a text and takes the interface of `f`.
pub fn of(text: &str) -> Interface {
    compiled(text, &["-g", "-O0"])
}

/// The same with flags.
pub fn compiled(text: &str, flags: &[&str]) -> Interface {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, object) = (directory.path().join("t.c"), directory.path().join("t.o"));
    std::fs::write(&source, text).expect("written");
    let status = Command::new("cc").args(["-c", "-w"]).args(flags).arg(&source).arg("-o").arg(&object).status();
    assert!(status.expect("a compiler").success(), "{text}");
    let file = pair::File::read(&object).expect("an object");
    let mut arena = pair::new_arena();
    let function = file.lift(file.find("f").expect("f"), Side::Original, &mut arena).expect("a graph");
    Interface::new(&function, &arena)
}

/// The function that most texts are about.
pub const SOURCE: &str = "
    struct inner { short s; float w; };
    struct node { int val; struct node *next; struct inner in[3]; union { long l; double d; }; unsigned bit : 3; };
    enum mode { SLOW, FAST = 7 };
    typedef unsigned char byte;
    int g; static double table[4]; struct node *head; extern struct node first;
    long f(const int *p, int *q, int n, unsigned u, long m, unsigned long k, struct node *v, double x, float y,
           char c, byte b, _Bool t, enum mode e, struct inner z, int (*grid)[10], void *r)
    { g = n; table[n] = x; head = v; return first.val + *p + z.s; }
";
