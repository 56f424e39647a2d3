//! Lifted functions as text and back: the text form of `program` holds what a lifted function is made of.

use crate::Image;
use crate::testing::{assembled, compiled, sample};
use program::{Function, Register, Side, read_function, write_function};
use term::{Arena, Form};

fn arena() -> Arena {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    arena
}

/// Every function of an image is read from its text as it was, by another arena, too.
fn round_trip(image: &Image) -> usize {
    let mut done = 0;
    for index in 0..image.functions().len() {
        let mut ours = arena();
        let Ok(function) = image.lift(index, Side::Original, &mut ours) else { continue };
        let text = write_function(&ours, &function);
        let same: Function = read_function(&mut ours, &text, Form::Normal).unwrap_or_else(|e| panic!("{e}\n{text}"));
        // The same terms, not only the same text: handles are compared.
        assert_eq!(format!("{:?}", same.points), format!("{:?}", function.points), "{text}");
        assert_eq!(format!("{:?}", same.objects), format!("{:?}", function.objects), "{text}");
        assert_eq!(same.volatile, function.volatile);
        assert_eq!(same.signature, function.signature);
        assert_eq!(same.locals, function.locals);
        let mut other = arena();
        let read = read_function(&mut other, &text, Form::AsWritten).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(write_function(&other, &read), text);
        done += 1;
    }
    done
}

#[test]
fn functions_with_debug_information() {
    assert_eq!(round_trip(&Image::parse(sample(), "sample.o").expect("an object file")), 1);
    let text = "
        #include <string.h>
        #include <stdio.h>
        struct node { struct node *next; volatile int marked; char name[20]; double weight; };
        extern const int limits[4]; static int count; extern _Thread_local int level;
        static int helper(int x, float y) { count += x; return count * (int)y; }
        int walk(struct node *restrict first, _Bool deep, short s, unsigned char c) {
            char line[40]; int sum = 0;
            for (struct node *n = first; n; n = n->next) {
                n->marked = 1;
                sum += helper(n->name[3], (float)n->weight) / (s ? s : 1) + limits[c & 3];
                if (deep) strcpy(line, n->name);
            }
            printf(\"%d %s\", sum, line);
            return sum + level;
        }
        long dispatch(long (*table[])(long, double), int i, long x) { return table[i](x, 1.5) >> 3; }
        __int128 wide(__int128 a, int s) { return a << s; }
        double root(double x) { return __builtin_sqrt(x) + (float)x; }
        int self(int n, int sum) { return n == 0 ? sum : self(n - 1, sum + n); }
    ";
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        assert!(round_trip(&compiled(text, &format!("cc -c -g {level}"))) >= 5, "{level}");
        assert!(round_trip(&compiled(text, &format!("cc -c {level}"))) >= 5, "{level}");
    }
}

#[test]
fn functions_without() {
    let text = "
        .globl f\nf: push rbx\nmov rbx, rdi\ncmp rdi, rsi\njb 1f\ncall g\nmul rbx\nadc rax, rdx\n1: pop rbx\nret
        .globl h\nh: movdqu xmm0, [rdi]\npaddd xmm0, xmm1\npshufd xmm2, xmm0, 27\nmovdqu [rsi], xmm2\nbsr eax, edi\ncmovz eax, esi\nidiv esi\nud2
        .globl s\ns: shl rax, cl\nrcl rdx, 3\nbswap rax\ncall [rdi + 8]\njmp [rip + t]\n.data\nt: .quad f\n";
    assert_eq!(round_trip(&assembled(text)), 3);
}
