use super::*;

/// `edi` in, `eax` out.
fn batch(inputs: &[u64]) -> Batch {
    let interface = Interface { general_in: vec![7], general_out: vec![0], ..Interface::default() };
    let inputs: Vec<Vec<u64>> = inputs.iter().map(|input| vec![*input]).collect();
    Batch::new(interface, &inputs).unwrap()
}

/// lea eax, [rdi + 1]
const GOOD: &[u8] = &[0x8d, 0x47, 0x01];

/// A program between good ones: all others run, and this one ends like that.
fn among_good_ones(code: &[u8], expected: Status) {
    let mut batch = batch(&[1, 2, 3]);
    batch.limit = Duration::from_millis(300);
    for _ in 0..20 {
        assert!(batch.push(GOOD).is_some());
    }
    let bad = batch.push(code).unwrap();
    for _ in 0..20 {
        assert!(batch.push(GOOD).is_some());
    }
    for _ in 0..2 {
        batch.run().unwrap();
        assert_eq!(batch.status(bad), expected);
        for i in (0..41).filter(|i| *i != bad) {
            assert_eq!(batch.status(i), Status::Done, "program {i}");
            assert_eq!((batch.result(i, 0), batch.result(i, 2)), (&[2][..], &[4][..]));
        }
    }
}

#[test]
fn programs_run_on_all_inputs() {
    let mut batch = batch(&[5, 7]);
    let sum = batch.push(&[0x8d, 0x04, 0x3f]).unwrap(); // lea eax, [rdi + rdi]
    let negative = batch.push(&[0x89, 0xf8, 0xf7, 0xd8]).unwrap(); // mov eax, edi; neg eax
    batch.run().unwrap();
    assert_eq!((batch.result(sum, 0), batch.result(sum, 1)), (&[10][..], &[14][..]));
    assert_eq!(batch.result(negative, 0), &[0xffff_fffb]);
    batch.clear();
    assert_eq!(batch.push(GOOD), Some(0));
    batch.run().unwrap();
    assert_eq!(batch.result(0, 1), &[8]);
}

#[test]
fn vectors_flags_and_memory_are_results_too() {
    let memory = Scratch { address: 0x6100_0000_0000, length: 4096 };
    let interface = Interface {
        general_in: vec![0, 7],
        vector_in: vec![1],
        general_out: vec![0],
        vector_out: vec![2],
        flags: Flags::Kept,
        memory: Some(memory),
    };
    let mut input = vec![3, memory.address, 1, 2, 0, 0];
    input.resize(interface.words_in(), 9);
    let mut batch = Batch::new(interface, &[input]).unwrap();
    // movaps xmm2, xmm1; mov [rdi + 8], eax; sub eax, 3
    let program = batch.push(&[0x0f, 0x28, 0xd1, 0x89, 0x47, 0x08, 0x83, 0xe8, 0x03]).unwrap();
    for _ in 0..2 {
        batch.run().unwrap();
        let result = batch.result(program, 0);
        assert_eq!((result[0], result[1] & 0x40), (0, 0x40));
        assert_eq!(result[2..4], [1, 2]);
        assert_eq!(result[6..9], [9, 3, 9]);
    }
}

#[test]
fn a_full_batch_has_no_room() {
    let mut batch = batch(&[1]);
    assert_eq!((0..PROGRAMS + 3).filter_map(|_| batch.push(GOOD)).count(), PROGRAMS);
    batch.clear();
    assert_eq!(batch.push(&[0x90; PROGRAM_BYTES + 1]), None);
    assert!(batch.push(&[0x90; PROGRAM_BYTES]).is_some());
}

#[test]
fn wild_loads_and_stores_are_survived() {
    among_good_ones(&[0x31, 0xc0, 0x89, 0x00], Status::Fault(Signal::Segv)); // xor eax, eax; mov [rax], eax
    among_good_ones(&[0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x8b, 0x00], Status::Fault(Signal::Segv)); // not canonical
    among_good_ones(&[0x89, 0x05, 0, 0, 0, 0], Status::Fault(Signal::Segv)); // its own code
}

#[test]
fn endless_loops_are_survived() {
    among_good_ones(&[0xeb, 0xfe], Status::Timeout);
}

#[test]
fn traps_are_survived() {
    among_good_ones(&[0x0f, 0x0b], Status::Fault(Signal::Ill)); // ud2
    among_good_ones(&[0x31, 0xd2, 0xf7, 0xf2], Status::Fault(Signal::Fpe)); // div edx
    among_good_ones(&[0x48, 0x31, 0xe4, 0x50], Status::Fault(Signal::Segv)); // xor rsp, rsp; push rax
}

#[test]
fn system_calls_are_refused() {
    among_good_ones(&[0xb8, 39, 0, 0, 0, 0x0f, 0x05], Status::Killed); // getpid
    among_good_ones(&[0xb8, 57, 0, 0, 0, 0x0f, 0x05], Status::Killed); // fork
    among_good_ones(&[0xb8, 60, 0, 0, 0, 0x0f, 0x05], Status::Killed); // exit
}

#[test]
fn a_storm_of_faults_is_survived() {
    let mut batch = batch(&[1, 2, 3, 4]);
    for round in 0..20 {
        batch.clear();
        while batch.push(if round % 2 == 0 { &[0x0f, 0x0b] } else { GOOD }).is_some() {}
        batch.run().unwrap();
        let expected = if round % 2 == 0 { Status::Fault(Signal::Ill) } else { Status::Done };
        assert!((0..PROGRAMS).all(|i| batch.status(i) == expected));
    }
}

#[test]
fn inputs_of_the_wrong_size_are_refused() {
    let interface = Interface { general_in: vec![7], general_out: vec![0], ..Interface::default() };
    assert!(Batch::new(interface.clone(), &[vec![1, 2]]).is_err());
    assert!(Batch::new(interface, &[]).is_err());
    let stack = Interface { general_in: vec![4], ..Interface::default() };
    assert!(Batch::new(stack, &[vec![1]]).is_err());
}
