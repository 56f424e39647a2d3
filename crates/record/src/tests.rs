//! Programs compiled for the test, recorded.

use crate::{Ended, Error, Forks, Limits, Recording, record, render};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMITS: Limits = Limits { states: 200, hits: 5000, time: Duration::from_secs(60) };

/// A list, a table, floating point, a caller's local; `work` is what is recorded.
const SOURCE: &str = "
    #include <stdlib.h>
    #include <unistd.h>
    struct node { int v; struct node *next; };
    static int table[16]; int total;
    __attribute__((noinline)) int work(struct node *n, int k, double by) {
        int s = 0;
        for (; n; n = n->next) { s += n->v * k + table[n->v & 15]; table[n->v & 15]++; }
        total += s; return s + (int)by;
    }
    int run(int rounds) {
        struct node local[5];
        for (int r = 0; r < rounds; r++) {
            struct node *l = 0;
            for (int i = 0; i < r % 7; i++) { struct node *n = malloc(sizeof *n); n->v = r + i; n->next = l; l = n; }
            work(l, r, r * 0.5);
            for (int i = 0; i < 5; i++) { local[i].v = i; local[i].next = i < 4 ? &local[i + 1] : 0; }
            work(local, 3, 1);
        }
        return total & 63;
    }
";

struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench { directory: tempfile::tempdir().unwrap() }
    }

    fn compile(&self, name: &str, source: &str, flags: &[&str]) -> PathBuf {
        let (c, out) = (self.directory.path().join(format!("{name}.c")), self.directory.path().join(name));
        std::fs::write(&c, source).unwrap();
        let mut command = Command::new("gcc");
        let status = command.args(["-g", "-O2", "-w", "-o"]).arg(&out).arg(&c).args(flags).status().unwrap();
        assert!(status.success());
        out
    }
}

fn program(main: &str) -> String {
    format!("{SOURCE} int main(int argc, char **argv) {{ {main} }}")
}

fn run(program: &Path, function: &str, forks: Forks) -> Result<Recording, Error> {
    let command = vec![OsString::from(program)];
    let function = function.to_string();
    // The recorder's thread needs a large stack.
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    thread.spawn(move || record(&command, &function, LIMITS, forks)).unwrap().join().unwrap()
}

/// States were taken, replay, and have memory by address and by object.
fn is_sound(recording: &Recording) {
    assert!(!recording.is_empty() && recording.paths >= 2, "{recording:?}");
    assert!(recording.compared[0] > 10, "{recording:?}");
    assert_eq!(recording.compared[0], recording.compared[1], "{recording:?}");
    let text = render(recording);
    assert!(text.contains("\"object\": \"table") && text.contains("\"object\": \"total\""), "{text}");
    assert!(text.contains("\"rdi\": \"0x") && text.contains("\"xmm0\": \"0x"), "{text}");
}

#[test]
fn programs_at_fixed_and_at_movable_addresses() {
    let bench = Bench::new();
    let status =
        Command::new(bench.compile("plain", &program("return run(40);"), &[])).status().unwrap().code().unwrap();
    for flags in [&["-pie", "-fPIE"][..], &["-no-pie"], &["-static"]] {
        let recording = run(&bench.compile("p", &program("return run(40);"), flags), "work", Forks::Leave).unwrap();
        is_sound(&recording);
        assert_eq!((recording.hits, recording.ended), (80, Ended::Status(status)), "{flags:?}");
        assert_eq!(recording.partial(), 0);
    }
}

#[test]
fn a_function_of_a_shared_library() {
    let bench = Bench::new();
    let library = bench.compile("libwork.so", SOURCE, &["-shared", "-fPIC"]);
    let main = "int run(int); int main(void) { return run(40); }";
    let program = bench.compile("p", main, &[library.to_str().unwrap()]);
    is_sound(&run(&program, "work", Forks::Leave).unwrap());
    // Loaded while it runs.
    let main = format!(
        "#include <dlfcn.h>\nint main(void) {{ void *l = dlopen(\"{}\", RTLD_NOW); int (*run)(int) = dlsym(l, \"run\"); return run(40); }}",
        library.display()
    );
    is_sound(&run(&bench.compile("q", &main, &["-ldl"]), "work", Forks::Leave).unwrap());
}

#[test]
fn threads_are_followed_and_disturb_nobody() {
    let bench = Bench::new();
    let main = "#include <pthread.h>
        static void *thread(void *a) { for (int i = 0; i < 50; i++) work(0, i, 2); return 0; }
        int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, thread, 0);
          for (int i = 0; i < 4; i++) pthread_join(t[i], 0); run(10); return 5; }";
    let recording = run(&bench.compile("p", &format!("{SOURCE}{main}"), &["-pthread"]), "work", Forks::Leave).unwrap();
    assert_eq!(recording.ended, Ended::Status(5));
    // While one thread steps over the breakpoint, another may run past it.
    assert!((60..=220).contains(&recording.hits), "{recording:?}");
}

#[test]
fn forked_processes_if_asked_for() {
    let bench = Bench::new();
    let main = "int status; if (fork() == 0) { run(20); _exit(3); } wait(&status); run(1); return status >> 8;";
    let path = bench.compile("p", &program(main), &[]);
    let [alone, all] = [Forks::Leave, Forks::Follow].map(|forks| run(&path, "work", forks).unwrap());
    assert_eq!((alone.hits, alone.ended), (2, Ended::Status(3)));
    assert_eq!((all.hits, all.ended), (42, Ended::Status(3)));
    // A shell that runs it, directly and by a copy of itself.
    let script = bench.directory.path().join("script");
    std::fs::write(&script, format!("#!/bin/sh\n{0}\n{0}\nexit 4\n", path.display())).unwrap();
    Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    let all = run(&script, "work", Forks::Follow).unwrap();
    assert_eq!((all.hits, all.ended), (84, Ended::Status(4)));
}

#[test]
fn calls_end_what_can_be_followed() {
    let bench = Bench::new();
    let path = bench.compile("p", &program("return run(3);"), &[]);
    let recording = run(&path, "run", Forks::Leave).unwrap();
    assert_eq!((recording.len(), recording.partial()), (1, 1));
    assert!(render(&recording).contains("\"partial\": \"it calls another function\""));
}

#[test]
fn no_hit_no_function_no_program() {
    let bench = Bench::new();
    let path = bench.compile("p", &program("return argc == 9 ? run(3) : 6;"), &[]);
    let recording = run(&path, "work", Forks::Leave).unwrap();
    assert_eq!((recording.len(), recording.hits, recording.ended), (0, 0, Ended::Status(6)));
    let error = |function: &str, path: &Path| run(path, function, Forks::Leave).unwrap_err().to_string();
    assert!(error("nosuch", &path).contains("has a symbol for the function `nosuch`"));
    assert!(error("work", Path::new("/no/such/program")).contains("cannot run `/no/such/program`"));
    let two = "static int f(int x) { return x + 1; } int (*p)(int) = f;";
    let other = bench.directory.path().join("two.c");
    std::fs::write(&other, two).unwrap();
    let main = "static __attribute__((noinline)) int f(int x) { return x * 3; } int (*q)(int) = f; int main(void) { return q(1); }";
    let path = bench.compile("r", main, &[other.to_str().unwrap()]);
    assert!(error("f", &path).contains("several functions are called `f`"));
}

#[test]
fn a_program_that_crashes_keeps_what_was_recorded() {
    let bench = Bench::new();
    let path = bench.compile("p", &program("run(20); return *(volatile int *)8;"), &[]);
    let recording = run(&path, "work", Forks::Leave).unwrap();
    is_sound(&recording);
    assert_eq!(recording.ended, Ended::Signal(11));
    // In the function itself.
    let path = bench.compile("q", &program("run(20); work((struct node *)8, 1, 1); return 0;"), &[]);
    let recording = run(&path, "work", Forks::Leave).unwrap();
    assert_eq!((recording.hits, recording.ended), (41, Ended::Signal(11)));
    assert_eq!(recording.left_out.get("it faults"), Some(&1), "{recording:?}");
}

#[test]
fn signals_and_traps_of_the_program_are_its_own() {
    let bench = Bench::new();
    let main = "signal(10, handler); signal(5, handler); for (int i = 0; i < 20; i++) { raise(10); work(0, i, 1); }
        __asm__ volatile(\"int3\"); return seen;";
    let source = format!(
        "#include <signal.h>\n{SOURCE} int seen; void handler(int s) {{ seen++; }} int main(void) {{ {main} }}"
    );
    let recording = run(&bench.compile("p", &source, &[]), "work", Forks::Leave).unwrap();
    assert_eq!((recording.hits, recording.ended), (20, Ended::Status(21)));
}
