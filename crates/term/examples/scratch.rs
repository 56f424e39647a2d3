use term::*;
fn main() {
    let mut m = Arena::new();
    let a = &mut m;
    let rdi = a.var("rdi", Sort::Bv(64));
    let x = a.truncate(rdi, 32);
    for (s, k) in [(2u16, 0x28f5c28u64), (4, 0xa3d70a)] {
        let mm = a.bv(32, 0xc28f5c29);
        let p = a.mul(x, mm);
        let y = a.add_const(p, 0x51eb850);
        let r0 = a.extract(y, s - 1, 0);
        let r1 = a.extract(y, 31, s);
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
