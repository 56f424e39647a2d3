use super::*;
use crate::Signal;
use std::time::Duration;

const CODE: u64 = 0x4000_0000;
const STACK: u64 = 0x6000_0000;
const BUFFER: u64 = 0x1_2000_0000;
const LIMITS: Limits = Limits { processor: Duration::from_secs(5), clock: Duration::from_secs(60) };

/// A bench with this code, a stack and a buffer.
fn bench(code: &[u8]) -> Bench {
    let segments = [Segment { address: CODE, bytes: code.to_vec(), access: Access::Execute }];
    let zeros = [Zeros { address: STACK, length: 0x4000 }, Zeros { address: BUFFER, length: 0x1000 }];
    Bench::start(&segments, &zeros, 1 << 20, 0).unwrap()
}

/// A call of the code at an offset, with a pointer to the buffer.
fn call(offset: u64, memory: &[u8]) -> Call {
    let mut general = [0; 16];
    (general[4], general[7]) = (STACK + 0x3ff8 - 0x100, BUFFER);
    let memory = if memory.is_empty() { Vec::new() } else { vec![(BUFFER, memory.into())] };
    Call { entry: CODE + offset, general, vectors: None, memory, repeats: 1, x87: X87::Empty }
}

#[test]
fn a_single_call_says_what_it_did() {
    let code = [0x8b, 0x07, 0xff, 0x07, 0xc3, 0xcc, 0x0f, 0x0b]; // mov eax, [rdi]; inc dword [rdi]; ret; int3; ud2
    let mut bench = bench(&code);
    let once = bench.once(&call(0, &[7, 0, 0, 0]), LIMITS).unwrap();
    assert!(once.returned);
    assert_eq!(once.processor.general[0], 7);
    let mut now = [0; 4];
    bench.read(BUFFER, &mut now).unwrap();
    assert_eq!(now, [8, 0, 0, 0]);
    let trap = bench.once(&call(5, &[]), LIMITS).unwrap();
    assert!(!trap.returned && trap.stop == Stop::Trap);
    let fault = bench.once(&call(6, &[]), LIMITS).unwrap();
    assert!(matches!(fault.stop, Stop::Fault(fault) if fault.signal == Signal::Ill) && !fault.returned);
}

#[test]
fn memory_is_in_place_before_each_timed_call() {
    // `add [rdi], 1`, but `ud2` if another call has been here: the memory was not restored.
    let code = [0x80, 0x3f, 0x07, 0x75, 0x04, 0x80, 0x07, 0x01, 0xc3, 0x0f, 0x0b]; // cmp byte [rdi], 7; jne +4; add byte [rdi], 1; ret; ud2
    let mut bench = bench(&code);
    let calls = [call(0, &[7, 0, 0]), call(0, &[7])];
    let calls = vec![&calls[0], &calls[1], &calls[0]];
    let ticks = bench.time(&[calls.clone(), calls], 20, 1, LIMITS).unwrap();
    assert_eq!((ticks.len(), ticks[0].len()), (20, 2));
    assert!(ticks.iter().flatten().all(|ticks| *ticks > 0));
    // Made twice without, it fails: and says so.
    let twice = Call { repeats: 2, ..call(0, &[7]) };
    assert!(matches!(bench.time(&[vec![&twice]], 1, 1, LIMITS), Err(NativeError::Unavailable(_))));
}

#[test]
fn longer_work_takes_more_ticks() {
    // mov ecx, edx; l: dec ecx; jne l; ret
    let code = [0x89, 0xd1, 0xff, 0xc9, 0x75, 0xfc, 0xc3];
    let mut bench = bench(&code);
    let turns = |n: u64| {
        let mut call = Call { repeats: 3, ..call(0, &[]) };
        call.general[2] = n;
        call
    };
    let mut ticks = bench.time(&[vec![&turns(100)], vec![&turns(100_000)]], 31, 1, LIMITS).unwrap();
    ticks.sort_by_key(|round| round[1] / round[0].max(1));
    assert!(ticks[15][1] > 20 * ticks[15][0], "{ticks:?}");
}

#[test]
fn values_on_the_x87_stack_are_taken_away() {
    let code = [0xd9, 0xe8, 0xc3]; // fld1; ret
    let mut bench = bench(&code);
    let once = bench.once(&call(0, &[]), LIMITS).unwrap();
    assert!(once.returned && once.processor.x87.is_some());
    let call = Call { repeats: 100, x87: X87::Result, ..call(0, &[]) };
    bench.time(&[vec![&call]], 3, 1, LIMITS).unwrap();
}

#[test]
fn denormal_numbers_are_noticed() {
    let code = [0xf2, 0x0f, 0x58, 0xc1, 0xc3]; // addsd xmm0, xmm1; ret
    let mut bench = bench(&code);
    let with = |word: u64| {
        let mut vectors = [[0; 4]; 8];
        (vectors[0][0], vectors[1][0]) = (1f64.to_bits(), word);
        Call { vectors: Some(vectors), ..call(0, &[]) }
    };
    let once = bench.once(&with(2f64.to_bits()), LIMITS).unwrap();
    assert_eq!((once.denormal, once.processor.vectors[0][0]), (false, 3f64.to_bits()));
    assert!(bench.once(&with(1), LIMITS).unwrap().denormal);
}

#[test]
fn an_endless_call_ends_the_session() {
    let mut bench = bench(&[0xeb, 0xfe]);
    let limits = Limits { processor: Duration::from_millis(50), ..LIMITS };
    assert_eq!(bench.once(&call(0, &[]), limits).unwrap().stop, Stop::OutOfTime);
    assert!(matches!(bench.time(&[vec![&call(0, &[])]], 1, 1, limits), Err(NativeError::Busy)));
}

#[test]
fn the_order_of_contenders_changes_and_is_a_permutation() {
    let orders = orders(3, 50, 7);
    assert!(orders.iter().any(|order| *order != orders[0]));
    assert!(orders.iter().all(|order| (0..3).all(|i| order.contains(&i))));
}
