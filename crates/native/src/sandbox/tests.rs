//! What a sandbox does with honest code.

use super::*;
use crate::Access;

pub(super) const CODE: u64 = 0x40_0000;
pub(super) const DATA: u64 = 0x50_0000;
pub(super) const STACK: u64 = 0x60_0000;
pub(super) const LIMITS: Limits = Limits { processor: Duration::from_millis(30), clock: Duration::from_secs(20) };

/// A sandbox with this code, a page of data and a page of stack.
pub(super) fn sandbox(code: &[u8]) -> Sandbox {
    let segment = |address, bytes: &[u8], access| Segment { address, bytes: bytes.to_vec(), access };
    let page = [0; 4096];
    let segments = [
        segment(CODE, code, Access::Execute),
        segment(DATA, &page, Access::Write),
        segment(STACK, &page, Access::Write),
    ];
    Sandbox::start(&segments).expect("starts")
}

/// Registers at the start of the code.
pub(super) fn entry() -> Processor {
    let mut processor = Processor { rip: CODE, ..Processor::default() };
    processor.general[4] = STACK + 2048;
    processor
}

#[test]
fn code_computes_and_stops_at_its_trap() {
    let mut sandbox = sandbox(&[0x48, 0x8d, 0x04, 0x7f, 0x0f, 0x58, 0xc1, 0xcc]); // lea rax, [rdi+rdi*2]; addps xmm0, xmm1; int3
    for (rdi, tripled) in [(5, 15), (100, 300)] {
        let mut start = entry();
        start.general[7] = rdi;
        start.vectors[0] = [u64::from(1f32.to_bits()), 0, 7, 9];
        start.vectors[1] = [u64::from(2f32.to_bits()), 0, 0, 0];
        sandbox.set_processor(&start).unwrap();
        assert_eq!(sandbox.run(LIMITS).unwrap(), Stop::Trap);
        let end = sandbox.processor().unwrap();
        assert_eq!((end.general[0], end.rip), (tripled, CODE + 8));
        assert_eq!(end.vectors[0], [u64::from(3f32.to_bits()), 0, 7, 9]);
    }
}

#[test]
fn memory_is_written_and_read() {
    let mut sandbox = sandbox(&[0xff, 0x07, 0xcc]); // inc dword [rdi]
    let mut start = entry();
    start.general[7] = DATA + 8;
    sandbox.write(DATA + 8, &[0xff, 0, 0, 0]).unwrap();
    sandbox.set_processor(&start).unwrap();
    assert_eq!(sandbox.run(LIMITS).unwrap(), Stop::Trap);
    let mut bytes = [0; 4];
    sandbox.read(DATA + 8, &mut bytes).unwrap();
    assert_eq!(bytes, [0, 1, 0, 0]);
    assert!(sandbox.write(DATA + 4090, &[0; 8]).is_err());
    assert!(sandbox.write(CODE, &[0; 8]).is_err());
}

#[test]
fn faults_are_told_and_do_not_end_it() {
    let mut sandbox = sandbox(&[0x8b, 0x07, 0xcc]); // mov eax, [rdi]
    for (rdi, stop) in [
        (0x1234, Stop::Fault(Fault { signal: Signal::Segv, address: 0x1234 })),
        (DATA, Stop::Trap),
        (u64::MAX << 62, Stop::Fault(Fault { signal: Signal::Segv, address: 0 })),
        (DATA, Stop::Trap),
    ] {
        let mut start = entry();
        start.general[7] = rdi;
        sandbox.set_processor(&start).unwrap();
        assert_eq!(sandbox.run(LIMITS).unwrap(), stop);
    }
}

#[test]
fn an_endless_loop_uses_up_its_time_only() {
    let mut sandbox = sandbox(&[0x85, 0xff, 0x74, 0xfe, 0xcc]); // test edi, edi; jz self
    for (rdi, stop) in [(0, Stop::OutOfTime), (1, Stop::Trap), (0, Stop::OutOfTime), (1, Stop::Trap)] {
        let mut start = entry();
        start.general[7] = rdi;
        sandbox.set_processor(&start).unwrap();
        assert_eq!(sandbox.run(LIMITS).unwrap(), stop);
    }
}

#[test]
fn segments_that_overlap_or_lie_elsewhere_are_refused() {
    let segment = |address| Segment { address, bytes: vec![0; 8192], access: Access::Write };
    for segments in [
        vec![segment(DATA), segment(DATA + 4096)],
        vec![segment(DATA + 1)],
        vec![segment(0x1000)],
        vec![segment(Sandbox::HIGHEST - 4096)],
        vec![segment(u64::MAX - 4095)],
    ] {
        assert!(matches!(Sandbox::start(&segments), Err(NativeError::TooLarge)));
    }
}

#[test]
fn an_image_is_not_changed_by_the_code_that_used_it() {
    // mov [rdi], rdi; mov rax, [rsi]; int3; syscall
    let code = [0x48, 0x89, 0x3f, 0x48, 0x8b, 0x06, 0xcc, 0x0f, 0x05];
    let segment = |address, bytes: Vec<u8>, access| Segment { address, bytes, access };
    let segments = [segment(CODE, code.to_vec(), Access::Execute), segment(DATA, vec![7; 16], Access::Write)];
    let mut image = Image::new(&segments).unwrap();
    let pieces = [STACK, STACK + 0x1_0000].map(|address| Zeros { address, length: 4096 });
    // It writes to its data and to zeros, which lie in one hole of the file; what it reads is as at first.
    for (written, read, expected) in [(DATA, DATA + 8, 0x0707_0707_0707_0707), (STACK, STACK + 0x1_0000, 0)] {
        for _ in 0..2 {
            let mut sandbox = Sandbox::of(image, &pieces).unwrap();
            let mut bytes = [1; 8];
            sandbox.read(written, &mut bytes).unwrap();
            assert_eq!(u64::from_le_bytes(bytes), expected);
            let mut start = entry();
            (start.general[7], start.general[6]) = (written, read);
            sandbox.set_processor(&start).unwrap();
            assert_eq!(sandbox.run(LIMITS).unwrap(), Stop::Trap);
            assert_eq!(sandbox.processor().unwrap().general[0], expected);
            // The system call at its end kills it, and not its image.
            assert!(matches!(sandbox.run(LIMITS), Err(NativeError::Killed)));
            image = sandbox.end();
        }
    }
    // Another sandbox has other pieces.
    let mut sandbox = Sandbox::of(image, &pieces[..1]).unwrap();
    assert!(sandbox.read(STACK + 0x1_0000, &mut [0]).is_err());
    let mut start = entry();
    (start.general[7], start.general[6]) = (STACK, STACK + 0x1_0000);
    sandbox.set_processor(&start).unwrap();
    assert!(matches!(sandbox.run(LIMITS).unwrap(), Stop::Fault(_)));
}

#[test]
fn pages_that_were_written_to_are_known() {
    let mut sandbox = sandbox(&[0x8b, 0x06, 0x89, 0x07, 0xcc]); // mov eax, [rsi]; mov [rdi], eax; int3
    assert_eq!(sandbox.written(DATA, 1).unwrap(), []);
    let mut start = entry();
    (start.general[7], start.general[6]) = (STACK, DATA);
    sandbox.set_processor(&start).unwrap();
    assert_eq!(sandbox.run(LIMITS).unwrap(), Stop::Trap);
    let pages = ((STACK - DATA) / 4096 + 1) as usize;
    assert_eq!(sandbox.written(DATA, pages).unwrap(), [STACK]);
    sandbox.write(DATA + 8, &[1]).unwrap();
    assert_eq!(sandbox.written(DATA, pages).unwrap(), [DATA, STACK]);
}
