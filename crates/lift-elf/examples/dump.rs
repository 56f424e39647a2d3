use graph::{Register, Side};
use lift_elf::Image;
use term::Arena;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let image = Image::read(std::path::Path::new(&args[1])).unwrap();
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    let f = image.lift(image.find(&args[2]).unwrap(), Side::Original, &mut arena).unwrap();
    for (i, p) in f.points.iter().enumerate() {
        println!("point {i} at {:#x}", p.address);
        for (a, op) in &p.ops {
            match op {
                graph::Op::Set { var, value } => println!("  {a:#x} {} := {}", arena.var_name(*var), arena.text(*value)),
                graph::Op::Load { var, address, bytes } => println!("  {a:#x} {} := load{bytes} {}", arena.var_name(*var), arena.text(*address)),
                graph::Op::Store { address, value } => println!("  {a:#x} store {} := {}", arena.text(*address), arena.text(*value)),
                graph::Op::Unknown { var } => println!("  {a:#x} {} unknown", arena.var_name(*var)),
                graph::Op::Fault { condition, kind } => println!("  {a:#x} fault {kind:?} if {}", arena.text(*condition)),
            }
        }
        match &p.next {
            graph::Next::Edges(edges) => for e in edges { println!("  -> {} if {}", e.target.0, arena.text(e.guard)) },
            other => println!("  {other:?}"),
        }
    }
    for o in f.objects.values() {
        println!("{} {:?} size {:?} align {} content {:?} members {:?}", arena.var_name(o.var), o.kind, o.size, o.align, o.content.as_ref().map(|c| c.bytes.len()), o.members.len());
    }
    println!("{:?}\n{:?}\n{:?}\n{:?}\n{:?}", f.signature, f.parameters, f.callees, f.locals, f.lines.rows.len());
}
