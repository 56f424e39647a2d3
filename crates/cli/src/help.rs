//! Texts of `--help` that say more than one option: examples, and what the exit status means.

/// Below the help of `lockstep`.
pub const TOP: &str = "\
Examples:
  lockstep demo                                     see a proof and a refutation, without any file of your own
  lockstep check old.o new.o                        compare two objects function by function
  lockstep check before.mir after.mir               check what a register allocator did
  lockstep check kernel.c tiled.c --param N=24      compare two C kernels
  lockstep explain no-correlation                   what a word in a report means, and what to do

Exit status: 0 all equivalent, 1 something different, 2 something unknown, 3 bad input or usage, 4 equivalent under a
condition that lockstep found, 130 interrupted.";

/// Below the help of `check`.
pub const CHECK: &str = "\
Examples:
  cc -g -O0 -c f.c -o old.o && cc -g -O2 -c f.c -o new.o && lockstep check old.o new.o
  lockstep check old.o new.o --function parse --timeout 300
  lockstep check old.o new.o --function parse=parse_fast
  lockstep check libold.a libnew.a --format jsonl    one line of JSON for each function, as soon as it is decided
  lockstep check build-gcc/ build-clang/             objects paired by path, functions by name
  lockstep check 'libold.a(parse.o)' parse.o         a member of an archive
  lockstep check old.o new.o --fail-on plain         differences that need overlapping objects do not make it fail

Exit status:
  0    all functions equivalent (or inlined into such)
  1    at least one different, of a class in --fail-on
  2    none of these, but at least one unknown, or not decided because of --time-limit
  3    bad input or usage; nothing was written to stdout
  4    equivalent under a condition that lockstep found, nothing worse
  130  interrupted: what was decided until then was reported";

/// Below the help of `verify`.
pub const VERIFY: &str = "\
Examples:
  lockstep check old.o new.o --certificates proofs && lockstep verify proofs old.o new.o
  lockstep verify proofs/parse.json old.o new.o --audit

Exit status: 0 accepted, 2 rejected, 3 malformed or about another program.";

/// Below the help of `show`.
pub const SHOW: &str = "\
Examples:
  lockstep show old.o --function parse               what lockstep understood of a function
  lockstep show --certificate proofs/parse.json old.o new.o
  lockstep show --why parse old.o new.o              why there is no proof";

/// Below the help of `regalloc`.
pub const REGALLOC: &str = "\
Examples:
  lockstep regalloc f.c                              all allocators of llc at -O2
  lockstep regalloc f.ll --regalloc greedy --span ssa

Exit status: 0 all proved, 1 at least one mistake, 2 none but at least one open, 3 bad input or usage.";
