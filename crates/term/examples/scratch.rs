use term::*;
fn main() {
    let mut m = Arena::new();
    let a = &mut m;
    let rdi = a.var("rdi", Sort::Bv(64));
    let x = a.truncate(rdi, 32);
    for (off, k) in [(0i64, 0x19999999u64), (0x19999998, 0x19999998), (-0x66666667, 0x19999999)] {
        let mm = a.bv(32, 0xcccccccd);
        let p = a.mul(x, mm);
        let y = a.add_const(p, off);
        let r0 = a.extract(y, 0, 0);
        let r1 = a.extract(y, 31, 1);
        let r = a.concat(r0, r1);
        println!("{}", a.text(r));
        let k = a.bv(32, k);
        let cf = a.ult(r, k);
        println!("  cf {}", a.text(cf));
        let zf = a.eq(r, k);
        println!("  zf {}", a.text(zf));
        let c = a.bool_or(cf, zf);
        println!("  {}", a.text(c));
    }
}
