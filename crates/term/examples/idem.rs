use std::collections::BTreeMap;
use term::generate::Generator;
use term::*;
fn main() {
    let mut bad: BTreeMap<String, (u32, Vec<String>)> = BTreeMap::new();
    let mut total = 0;
    for seed in 0..200u64 {
        let mut arena = Arena::new();
        let mut g = Generator::new(&mut arena, seed << 32);
        arena.log = Some(vec![]);
        for _ in 0..400 {
            g.step(&mut arena);
        }
        let log = arena.log.take().unwrap();
        for f in log {
            let t = f.after;
            let (op, args) = (arena.op(t), arena.args(t).to_vec());
            if args.is_empty() {
                continue;
            }
            total += 1;
            let again = arena.make(op, &args);
            if again != t {
                let e = bad.entry(format!("{} {:?}", f.rule, op)).or_default();
                e.0 += 1;
                if e.1.len() < 3 && arena.text(t).len() < 200 {
                    e.1.push(format!("{}  -->  {}   [from {}]", arena.text(t), arena.text(again), arena.text(f.before)));
                }
            }
        }
    }
    let n: u32 = bad.values().map(|v| v.0).sum();
    println!("{n} of {total}");
    let mut v: Vec<_> = bad.into_iter().collect();
    v.sort_by_key(|(_, v)| std::cmp::Reverse(v.0));
    for (k, (n, e)) in v.into_iter().take(30) {
        println!("{n} {k}");
        for x in e {
            println!("      {x}");
        }
    }
}
