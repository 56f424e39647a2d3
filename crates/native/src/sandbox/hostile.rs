//! What hostile code tries.

use super::tests::{CODE, DATA, LIMITS, STACK, entry, sandbox};
use super::*;
use std::time::Instant;

/// The end of one run of this code with these registers (rax, rdi, rsi, rdx).
fn run(code: &[u8], registers: [u64; 4]) -> Result<Stop, NativeError> {
    let mut sandbox = sandbox(code);
    let mut start = entry();
    for (register, value) in [0, 7, 6, 2].into_iter().zip(registers) {
        start.general[register] = value;
    }
    sandbox.set_processor(&start)?;
    sandbox.run(LIMITS)
}

const SYSCALL: &[u8] = &[0x0f, 0x05, 0xcc];

#[test]
fn no_system_call_returns() {
    let own = u64::from(std::process::id());
    let calls = [
        (libc::SYS_write, [1, CODE, 1]),
        (libc::SYS_exit_group, [0, 0, 0]),
        (libc::SYS_exit, [0, 0, 0]),
        (libc::SYS_read, [0, DATA, 1]),
        (libc::SYS_open, [DATA, 0, 0]),
        (libc::SYS_openat, [libc::AT_FDCWD as u64, DATA, 0]),
        (libc::SYS_fork, [0, 0, 0]),
        (libc::SYS_vfork, [0, 0, 0]),
        (libc::SYS_clone, [libc::SIGCHLD as u64, 0, 0]),
        (libc::SYS_execve, [DATA, 0, 0]),
        (libc::SYS_ptrace, [libc::PTRACE_ATTACH as u64, own, 0]),
        (libc::SYS_process_vm_writev, [own, DATA, 1]),
        (libc::SYS_kill, [own, libc::SIGTERM as u64, 0]),
        (libc::SYS_tgkill, [own, own, libc::SIGTERM as u64]),
        (libc::SYS_mmap, [0, 1 << 40, 3]),
        (libc::SYS_mprotect, [CODE, 4096, 7]),
        (libc::SYS_brk, [1 << 40, 0, 0]),
        (libc::SYS_rt_sigreturn, [0, 0, 0]),
        (libc::SYS_rt_sigaction, [libc::SIGSEGV as u64, DATA, 0]),
        (libc::SYS_prctl, [libc::PR_SET_SECCOMP as u64, 0, 0]),
        (libc::SYS_socket, [1, 1, 0]),
        (libc::SYS_clone3, [DATA, 88, 0]),
        (libc::SYS_process_vm_readv, [own, DATA, 1]),
        (libc::SYS_pidfd_open, [own, 0, 0]),
        (libc::SYS_io_uring_setup, [1, DATA, 0]),
        (libc::SYS_memfd_create, [DATA, 0, 0]),
        (libc::SYS_seccomp, [1, 0, DATA]),
        (libc::SYS_getpid, [0, 0, 0]),
        (0x4000_0000 + 39, [0, 0, 0]),
        (u64::MAX as i64, [0, 0, 0]),
    ];
    for (number, [a, b, c]) in calls {
        let end = run(SYSCALL, [number as u64, a, b, c]);
        assert!(matches!(end, Err(NativeError::Killed)), "system call {number}: {end:?}");
    }
}

#[test]
fn the_other_gates_are_shut_too() {
    // int 0x80 with fork, open and exit; sysenter.
    for number in [2, 5, 1] {
        let end = run(&[0xcd, 0x80, 0xcc], [number, 0, 0, 0]);
        assert!(!matches!(end, Ok(Stop::Trap)), "int 0x80: {end:?}");
    }
    let end = run(&[0x0f, 0x34, 0xcc], [2, 0, 0, 0]);
    assert!(!matches!(end, Ok(Stop::Trap)), "sysenter: {end:?}");
    // The vsyscall page, where it exists: call gettimeofday there.
    let end = run(&[0x48, 0xc7, 0xc0, 0, 0, 0x60, 0xff, 0xff, 0xd0, 0xcc], [0; 4]);
    assert!(!matches!(end, Ok(Stop::Trap)), "vsyscall: {end:?}");
    // A far jump into 32-bit code (selector 0x23), which then calls the system.
    let mut code = vec![0x6a, 0x23, 0x68]; // push 0x23; push target; retf
    code.extend((CODE as u32 + 16).to_le_bytes());
    code.extend([0x48, 0xcb]);
    code.resize(16, 0x90);
    code.extend([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xcc]);
    let end = run(&code, [0; 4]);
    assert!(!matches!(end, Ok(Stop::Trap)), "32-bit code: {end:?}");
    // 32-bit code that stops: the next run is 64-bit code again (inc rax; int3).
    code.truncate(16);
    code.extend([0x0f, 0x0b, 0x48, 0xff, 0xc0, 0xcc]);
    let mut sandbox = sandbox(&code);
    sandbox.set_processor(&entry()).unwrap();
    assert!(matches!(sandbox.run(LIMITS), Ok(Stop::Fault(_))));
    let mut again = entry();
    (again.rip, again.general[0]) = (CODE + 18, u64::from(u32::MAX));
    sandbox.set_processor(&again).unwrap();
    assert_eq!(sandbox.run(LIMITS).unwrap(), Stop::Trap);
    assert_eq!(sandbox.processor().unwrap().general[0], 1 << 32);
}

#[test]
fn wild_jumps_fault() {
    for target in [0, 0x1000, DATA, STACK, u64::MAX, 1 << 47, run as *const () as u64, 0x7fff_ffff_e000] {
        let end = run(&[0xff, 0xe7, 0xcc], [0, target, 0, 0]); // jmp rdi
        assert!(matches!(end, Ok(Stop::Fault(_))), "{target:#x}: {end:?}");
    }
}

#[test]
fn the_stub_gives_nothing_to_those_who_jump_back() {
    // Every byte of it: the system calls in it are refused, its traps are ours to judge.
    for offset in (0..0x160u64).chain([0x400, 0x410, 0x500]) {
        let mut sandbox = sandbox(&[0xcc]);
        let mut start = entry();
        start.rip = 0x10_0000 + offset;
        sandbox.set_processor(&start).unwrap();
        if let Ok(Stop::Trap) = sandbox.run(LIMITS) {
            assert_ne!(sandbox.processor().unwrap().rip, CODE + 1, "at {offset:#x}");
        }
    }
}

#[test]
fn nothing_of_ours_is_there_to_be_read() {
    // Our own memory: code, stack, heap.
    let local = 5u64;
    let heap = Box::new(7u64);
    let ours = [run as *const () as u64, &raw const local as u64, &raw const *heap as u64];
    for address in ours {
        let end = run(&[0x48, 0x8b, 0x07, 0xcc], [0, address, 0, 0]);
        assert!(matches!(end, Ok(Stop::Fault(_))), "{address:#x}: {end:?}");
    }
    let mut sandbox = sandbox(&[0xcc]);
    let process = sandbox.tracee.process();
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let names: Vec<&str> = maps.lines().map(|line| line.split_whitespace().nth(5).unwrap_or("")).collect();
    let known = |name: &&str| name.starts_with("/memfd:lockstep") || name.starts_with("[vsyscall]");
    assert!(names.iter().all(known), "{maps}");
    assert_eq!(std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default(), b"");
    assert_eq!(std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count(), 0);
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    sandbox.set_processor(&entry()).unwrap();
    assert_eq!(sandbox.run(LIMITS).unwrap(), Stop::Trap);
}

#[test]
fn nothing_of_ours_is_there_to_be_written() {
    let mut local = 5u64;
    let mut heap = Box::new(7u64);
    for address in [&raw mut local as u64, &raw mut *heap as u64] {
        let end = run(&[0x48, 0xc7, 0x07, 9, 0, 0, 0, 0xcc], [0, address, 0, 0]); // mov qword [rdi], 9
        assert!(matches!(end, Ok(Stop::Fault(_))), "{address:#x}: {end:?}");
    }
    assert_eq!([local, *heap], [5, 7]);
}

#[test]
fn a_fork_bomb_has_no_children() {
    // mov eax, number; syscall; jmp back: by fork, vfork and clone; and by the gate of 32-bit programs.
    let bombs: [&[u8]; 4] = [
        &[0xb8, 57, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7],
        &[0xb8, 58, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7],
        &[0xb8, 56, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7],
        &[0xb8, 2, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7],
    ];
    for code in bombs {
        let mut sandbox = sandbox(code);
        let process = sandbox.tracee.process();
        sandbox.set_processor(&entry()).unwrap();
        let end = sandbox.run(LIMITS);
        assert!(matches!(end, Err(NativeError::Killed)), "{code:x?}: {end:?}");
        let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
        assert_eq!(children, "", "{code:x?}");
    }
}

#[test]
fn the_stack_ends() {
    let end = run(&[0x50, 0xeb, 0xfd], [0; 4]); // push rax; jmp back
    assert!(matches!(end, Ok(Stop::Fault(Fault { signal: Signal::Segv, .. }))), "{end:?}");
}

#[test]
fn memory_is_limited() {
    let segment = Segment { address: DATA, bytes: vec![0; 300 << 20], access: crate::Access::Write };
    assert!(matches!(Sandbox::start(&[segment]), Err(NativeError::TooLarge)));
}

#[test]
fn single_steps_and_odd_flags_stay_inside() {
    // pushf; or qword [rsp], 0x40100; popf; nop: the trap flag and the alignment check.
    let mut sandbox = sandbox(&[0x9c, 0x48, 0x81, 0x0c, 0x24, 0x00, 0x01, 0x04, 0x00, 0x9d, 0x90, 0x90, 0xcc]);
    sandbox.set_processor(&entry()).unwrap();
    let _ = sandbox.run(LIMITS).unwrap();
    let mut again = entry();
    again.rip = CODE + 10;
    sandbox.set_processor(&again).unwrap();
    assert_eq!(sandbox.run(LIMITS).unwrap(), Stop::Trap);
    assert_eq!(sandbox.processor().unwrap().rip, CODE + 13);
}

#[test]
fn a_loop_ends_in_time() {
    let begin = Instant::now();
    for _ in 0..3 {
        assert!(matches!(run(&[0xeb, 0xfe], [0; 4]), Ok(Stop::OutOfTime)));
    }
    assert!(begin.elapsed() < LIMITS.clock);
}

#[test]
fn a_killed_sandbox_stays_dead() {
    let mut sandbox = sandbox(SYSCALL);
    sandbox.set_processor(&entry()).unwrap();
    assert!(matches!(sandbox.run(LIMITS), Err(NativeError::Killed)));
    assert!(sandbox.run(LIMITS).is_err());
    assert!(sandbox.processor().is_err());
    assert!(sandbox.read(DATA, &mut [0; 8]).is_err());
}
