fn cpu() -> f64 { let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap(); s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9 }
use term::*;
fn main() {
    let mut m = Arena::new();
    let a = &mut m;
    let x = a.var("x", Sort::Bv(64));
    let y = a.var("y", Sort::Bv(64));
    let n = 20_000u64;
    let time = |name: &str, a: &mut Arena, f: &mut dyn FnMut(&mut Arena, u64)| {
        let t = cpu();
        for i in 0..n {
            f(a, i);
        }
        let e = cpu() - t;
        println!("{name:20} {:.2} M/s  ({} terms)", n as f64 / e / 1e6, a.len());
    };
    time("add new const", a, &mut |a, i| {
        a.add_const(x, i as i64);
    });
    time("add same", a, &mut |a, i| {
        a.add_const(x, (i % 16) as i64);
    });
    let mut s = x;
    time("add chain", a, &mut |a, i| {
        s = a.add_const(s, (i % 8) as i64 + 1);
    });
    time("two term sums", a, &mut |a, i| {
        let c = a.bv(64, i);
        let t = a.mul(y, c);
        a.add(x, t);
    });
    let vars: Vec<TermId> = (0..1000).map(|i| a.var(&format!("v{i}"), Sort::Bv(64))).collect();
    time("eq", a, &mut |a, i| {
        a.eq(vars[i as usize % 1000], vars[(i / 1000) as usize]);
    });
    time("ult", a, &mut |a, i| {
        a.ult(vars[i as usize % 1000], vars[(i / 1000) as usize]);
    });
    time("xor", a, &mut |a, i| {
        a.xor(vars[i as usize % 1000], vars[(i / 1000) as usize]);
    });
    time("extract32+zext", a, &mut |a, i| {
        let t = a.xor(vars[i as usize % 1000], vars[(i / 1000) as usize]);
        let t = a.truncate(t, 32);
        a.zext(t, 64);
    });
    let mut cond = a.bool(true);
    time("path conds", a, &mut |a, i| {
        let c = a.ult(vars[i as usize % 1000], vars[(i / 1000) as usize]);
        cond = if i % 20 == 0 { c } else { a.bool_and(cond, c) };
    });
    let mut mem = a.var("mem", Sort::Memory);
    let base = mem;
    time("store/load 64 slots", a, &mut |a, i| {
        if i % 1000 == 0 {
            mem = base;
        }
        let at = a.add_const(x, 8 * (i % 64) as i64);
        let v = a.load(mem, at, 8);
        let v = a.add_const(v, 1);
        mem = a.store(mem, at, v);
    });
}
