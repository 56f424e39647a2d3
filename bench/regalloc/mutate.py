#!/usr/bin/env python3
"""Plants one error per file into Machine IR from after register allocation (x86-64).

  mutate.py --dir DIR [--programs a,b] [--base O2.post-greedy,...] [--count N] [--seed S]

DIR is laid out as `cargo xtask bench regalloc` wants it: DIR/mir/PROGRAM/STEM.LEVEL.post-ALLOCATOR.mir. Writes
STEM.….mutN.mir beside each file and DIR/MUTANTS.csv. Kinds are taken in turn, so that each has about as many mutants.
A kind is a function of a block that yields edits: {line number: new text, or list of lines, or None to delete}.
"""
import argparse, collections, csv, glob, os, random, re

LEGACY = "ax cx dx bx si di bp".split()
NEW = [f"r{i}" for i in range(8, 16)]
FILES = {64: ["r" + x for x in LEGACY] + NEW, 32: ["e" + x for x in LEGACY] + [x + "d" for x in NEW], 16: LEGACY + [x + "w" for x in NEW],
         8: "al cl dl bl sil dil bpl".split() + [x + "b" for x in NEW], 128: [f"xmm{i}" for i in range(16)]}
BITS = {r: bits for bits, file in FILES.items() for r in file}
UNIT = {r: (bits == 128, FILES[bits].index(r)) for r, bits in BITS.items()}
SCRATCH = {(False, i) for i in (0, 1, 2, 4, 5, 7, 8, 9, 10)} | {(True, i) for i in range(16)}
LINE = re.compile(r'    (?:([^"=]*?) = )?((?:[a-z][a-z-]* )*)([A-Z]\w*)(?: (.*?))?( :: .*)?$')
REGISTER = re.compile(r"((?:(?:killed|renamable|dead) )*)\$(\w+)$")
OPPOSITE = {"ADD": "SUB", "SUB": "ADD", "SHR": "SAR", "SAR": "SHR", "SHL": "ROL", "AND": "OR", "OR": "XOR", "XOR": "AND", "INC": "DEC",
            "DEC": "INC", "MOVZX": "MOVSX", "MOVSX": "MOVZX", "ADC": "SBB", "SBB": "ADC"}
WIDER = {"MOV32rm": ("MOV64rm", 64), "MOV16rm": ("MOV32rm", 32), "MOVSSrm_alt": ("MOVSDrm_alt", 128)}
NARROWER = {"MOV64rm": ("MOV32rm", 32), "MOVSDrm_alt": ("MOVSSrm_alt", 128), "MOVAPSrm": ("MOVSDrm", 128), "MOVUPSrm": ("MOVSDrm", 128)}


def register(operand):
    m = REGISTER.match(operand)
    return m[2] if m and m[2] in UNIT else None


def units(operands):
    return {UNIT[register(o)] for o in operands if register(o)}


def implicit(operands):
    return [o for o in operands if o.startswith("implicit ")]


class Instruction:
    def __init__(self, line):
        m = None if "INLINEASM" in line or "DBG_" in line else LINE.match(line)
        self.defs, self.flags, self.op, operands, self.mem = m.groups("") if m else ("", "", "", "", "")
        self.defs, self.ops = [x.split(", ") if x else [] for x in (self.defs, operands)]

    def text(self):
        return f"    {', '.join(self.defs)}{' = ' * bool(self.defs)}{self.flags}{self.op} {', '.join(self.ops)}{self.mem}".rstrip()

    def copy(self):
        other = Instruction("")
        other.defs, other.flags, other.op, other.ops, other.mem = list(self.defs), self.flags, self.op, list(self.ops), self.mem
        return other

    def changed(self, **fields):
        other = self.copy()
        for key, value in fields.items():
            setattr(other, key, value)
        return other.text()

    def slot(self):
        m = self.ops and re.match(r"MOV\w*(?:mr|rm|rm_alt) %stack\.(\d+)$", self.op + " " + self.ops[0])
        return m and m[1]

    def out(self):
        return register(self.defs[0]) if len(self.defs) == 1 else None

    def address(self):
        """Where the five operands of an address begin."""
        for p in range(len(self.ops) - 4):
            if self.ops[p + 1] in ("1", "2", "4", "8") and (register(self.ops[p]) or self.ops[p][0] in "%$") and \
                    (self.ops[p + 4] == "$noreg" or self.ops[p + 4] in ("$fs", "$gs")):
                return p

    def is_call(self):
        return "CALL" in self.op and not self.op.startswith("ADJ")


def at_slot(i, slot):
    return i.changed(ops=["%stack." + slot] + i.ops[1:], mem=re.sub(r"%stack\.\d+", "%stack." + slot, i.mem))


def renamed(operand, new):
    return REGISTER.match(operand)[1].replace("killed ", "") + "$" + new


class Block:
    """The instructions of a block with line numbers, what is live after each, and the function's spill slots."""

    def __init__(self, lines, numbers, slots, rng, frame):
        self.code = [(n, Instruction(lines[n])) for n in numbers]
        self.lines, self.slots, self.rng, self.frame = lines, slots, rng, frame
        live, self.live = set(), {}
        for n, i in reversed(self.code):
            self.live[n] = live
            live = live - units(i.defs) | units(i.ops)

    def other(self, n, r):
        same = [x for x in FILES[BITS[r]] if x != r]
        return self.rng.choice([x for x in same if UNIT[x] in self.live[n]] or same)


def spills(b):
    for k, (n, i) in enumerate(b.code):
        slot = i.slot()
        if not slot or slot not in b.slots:
            continue
        yield ("drop-reload" if i.defs else "drop-spill"), {n: None}
        same = [s for s in b.slots if s != slot and b.slots[s][0] == b.slots[slot][0]]
        if same:
            yield "wrong-slot", {n: at_slot(i, b.rng.choice(same))}
        pair = next(((m, j) for m, j in b.code[k + 1:k + 8] if j.op == i.op and j.slot() not in (None, slot)), None)
        if i.defs and pair:
            yield "swap-reloads", {n: at_slot(i, pair[1].slot()), pair[0]: at_slot(pair[1], slot)}
        if i.defs and i.out() and i.op in NARROWER:
            op, bits = NARROWER[i.op]
            out = FILES[bits][UNIT[i.out()][1]]
            yield "narrow-reload", {n: i.changed(op=op, defs=[renamed(i.defs[0], out)], ops=i.ops + [f"implicit-def ${i.out()}"] * (bits == 32))}
        if not i.defs and k and units(i.ops[5:6]) & units(b.code[k - 1][1].defs):
            yield "spill-early", {b.code[k - 1][0]: i.text(), n: b.code[k - 1][1].text()}
        if i.defs and k and b.code[k - 1][1].slot() == slot and not b.code[k - 1][1].defs:
            yield "reload-early", {b.code[k - 1][0]: i.text(), n: b.code[k - 1][1].text()}
        size, declared = b.slots[slot]
        if int(size) >= 8:
            yield "small-slot", {declared: re.sub(r"size: \d+", f"size: {int(size) // 2}", b.lines[declared])}
        if i.op in ("MOVAPSrm", "MOVAPSmr"):
            yield "unaligned-slot", {declared: re.sub(r"alignment: \d+", "alignment: 4", b.lines[declared])}


def operands(b):
    for k, (n, i) in enumerate(b.code):
        if i.op == "COPY" and "dead" not in i.defs[0]:
            yield "drop-copy", {n: None}
        uses = [p for p, o in enumerate(i.ops) if register(o) and not units([o]) & units(i.defs)]
        if uses and not i.is_call() and not i.op.startswith("RET"):
            p = b.rng.choice(uses)
            ops = list(i.ops)
            ops[p] = renamed(ops[p], b.other(n, register(ops[p])))
            yield "wrong-use", {n: i.changed(ops=ops)}
            ops = list(i.ops)
            ops[p] = "undef " + ops[p].replace("killed ", "")
            yield "undef-use", {n: i.changed(ops=ops)}
        out = i.out()
        if out and "dead" not in i.defs[0]:
            new = b.other(n, out)
            wide = f"implicit-def ${FILES[64][UNIT[out][1]]}" if BITS[out] < 64 else None
            ops = [f"implicit-def ${FILES[64][UNIT[new][1]]}" if o == wide else o for o in i.ops]
            yield ("broken-tie" if units(i.defs) & units(i.ops) else "wrong-def"), {n: i.changed(defs=[renamed(i.defs[0], new)], ops=ops)}
        p = i.address()
        if p is not None:
            if i.ops[p + 1] in ("2", "4", "8") and len(units([i.ops[p]]) | units([i.ops[p + 2]])) == 2:
                ops = list(i.ops)
                ops[p], ops[p + 2] = ops[p + 2], ops[p]
                yield "swap-base-index", {n: i.changed(ops=ops)}
            if register(i.ops[p + 2] or ""):
                ops = list(i.ops)
                ops[p + 1] = {"1": "2", "2": "4", "4": "8", "8": "1"}[ops[p + 1]]
                yield "scale", {n: i.changed(ops=ops)}
            if re.fullmatch(r"-?\d+", i.ops[p + 3]) and not i.ops[p].startswith("%stack"):
                ops = list(i.ops)
                ops[p + 3] = str(int(ops[p + 3]) + b.rng.choice([-8, 8, 4]))
                yield "displacement", {n: i.changed(ops=ops)}
            if i.ops[p + 4] == "$fs":
                ops = list(i.ops)
                ops[p + 4] = "$noreg"
                yield "segment", {n: i.changed(ops=ops)}
        if re.match(r"(CMP|SUB)\d+rr$", i.op) and len(units(i.ops)) == 2 and not i.defs:
            yield "swap-compare", {n: i.changed(ops=[i.ops[1], i.ops[0]] + i.ops[2:])}
        numbers = [q for q, o in enumerate(i.ops) if re.fullmatch(r"-?\d+", o) and (p is None or not p < q < p + 5)]
        if numbers and re.match(r"(MOV\d+ri|ADD|SUB|CMP|AND|OR|XOR|SH|SAR|IMUL|MOV\d+mi|TEST)", i.op):
            ops = list(i.ops)
            ops[numbers[-1]] = str(int(ops[numbers[-1]]) + b.rng.choice([1, 2, -1]))
            yield "immediate", {n: i.changed(ops=ops)}
        if numbers and re.match(r"(JCC|SETCC|CMOV)", i.op):
            ops = list(i.ops)
            ops[numbers[-1]] = str((int(ops[numbers[-1]]) + b.rng.choice([1, 2, 4, 8])) % 16)
            yield "condition", {n: i.changed(ops=ops)}
        m = re.match(r"([A-Z]+)(\d.*)$", i.op)
        # There is no MOVZX of 32 bits, and no other operation on operands without common bits.
        if m and m[1] in OPPOSITE and not i.op.endswith("_DB") and not (m[1].startswith("MOV") and i.op.endswith("32")):
            yield "opcode", {n: i.changed(op=OPPOSITE[m[1]] + m[2])}
        if i.op in WIDER and out and not i.slot():
            op, bits = WIDER[i.op]
            yield "wide-load", {n: i.changed(op=op, defs=[renamed(i.defs[0], FILES[bits][UNIT[out][1]])],
                                            ops=[o for o in i.ops if not o.startswith("implicit-def")])}
        wide = out and BITS[out] == 32 and f"implicit-def ${FILES[64][UNIT[out][1]]}"
        if wide and wide in i.ops and i.op in ("COPY", "MOV32rr", "MOV32rm", "ADD32rr", "AND32rr", "MOVZX32rr8", "MOVZX32rm8", "SHR32ri"):
            op = {"COPY": "COPY", "MOV32rr": "MOVSX64rr32", "MOV32rm": "MOVSX64rm32", "MOVZX32rr8": "MOVSX64rr8", "MOVZX32rm8": "MOVSX64rm8"}.get(i.op, i.op.replace("32", "64"))
            ops = [o for o in i.ops if o != wide and not o.startswith("implicit killed")]
            if op not in ("MOVSX64rr32", "MOVSX64rm32", "MOVSX64rr8", "MOVSX64rm8"):
                ops = [renamed(o, FILES[64][UNIT[register(o)][1]]) if register(o) else o for o in ops]
            yield "missing-zext", {n: i.changed(op=op, defs=[renamed(i.defs[0], FILES[64][UNIT[out][1]])], ops=ops)}


def calls(b):
    for k, (n, i) in enumerate(b.code):
        if i.op.startswith("RET"):
            for p, o in enumerate(i.ops):
                if register(o) in ("eax", "rax", "al", "xmm0"):
                    new = {"eax": "ecx", "rax": "rdx", "al": "dl", "xmm0": "xmm1"}[register(o)]
                    yield "return-register", {n: i.changed(ops=i.ops[:p] + [renamed(o, new)] + i.ops[p + 1:])}
        if not i.is_call():
            continue
        for p, o in enumerate(i.ops):
            m = re.fullmatch(r"implicit (killed )?\$(\w+)", o)
            if m and m[2] in UNIT:
                new = FILES[BITS[m[2]]][(UNIT[m[2]][1] + 1) % (15 if BITS[m[2]] < 128 else 16)]
                yield "call-argument", {n: i.changed(ops=i.ops[:p] + [f"implicit ${new}"] + i.ops[p + 1:])}
            m = re.fullmatch(r"implicit-def \$(eax|rax|al)", o)
            if m:
                new = {"eax": "edx", "rax": "rdx", "al": "dl"}[m[1]]
                yield "call-result", {n: i.changed(ops=i.ops[:p] + [f"implicit-def ${new}"] + i.ops[p + 1:])}
            if o == "csr_64":
                yield "call-mask", {n: i.changed(ops=i.ops[:p] + ["csr_64_mostregs"] + i.ops[p + 1:])}
        used = {m[1] for o in i.ops for m in [re.fullmatch(r"implicit (?:killed )?\$(\w+)", o)] if m}
        sets = [(m, j) for m, j in b.code[max(0, k - 10):k] if j.out() in used]
        for (m, j), (m2, j2) in zip(sets, sets[1:]):
            if j.out() != j2.out() and BITS[j.out()] == BITS[j2.out()] and not units(j.ops + j2.ops) & units(j.defs + j2.defs):
                yield "exchange-arguments", {m: j.changed(defs=[renamed(j.defs[0], j2.out())], ops=[o for o in j.ops if "implicit-def" not in o]),
                                             m2: j2.changed(defs=[renamed(j2.defs[0], j.out())], ops=[o for o in j2.ops if "implicit-def" not in o])}
        # Kept in a register that the call loses.
        for m, j in b.code[k + 1:k + 12]:
            lost = [p for p, o in enumerate(j.ops) if register(o) and UNIT[register(o)] in {(False, 3), (False, 6), (False, 11), (False, 12), (False, 13), (False, 14)}]
            if lost and not j.defs:
                p = lost[0]
                new = FILES[BITS[register(j.ops[p])]][7]
                yield "lost-over-call", {m: j.changed(ops=j.ops[:p] + [renamed(j.ops[p], new)] + j.ops[p + 1:])}
                break


def order(b):
    for k, (n, i) in enumerate(b.code[1:], 1):
        m, j = b.code[k - 1]
        free = not units(i.defs) & units(j.ops + j.defs) and not units(j.defs) & units(i.ops)
        store, load = (lambda x: "store" in x.mem), (lambda x: "load" in x.mem)
        private = lambda x: x.slot() in b.slots if x.slot() else False
        if free and not private(i) and not private(j):
            if store(i) and store(j) or store(j) and load(i) or load(j) and store(i):
                yield "exchange-memory", {m: i.text(), n: j.text()}
            if j.is_call() and (load(i) or i.op.startswith(("DIV", "IDIV"))) and not units(i.ops + i.defs) & SCRATCH:
                yield "fault-over-call", {m: i.text(), n: j.text()}
        if units(i.ops) & units(j.defs) and j.op == "COPY":
            yield "use-before-copy", {m: i.text(), n: j.text()}
        if units(i.ops + i.defs) and i.op not in ("", "KILL") and "CALL" not in i.op and not i.op.startswith(("RET", "J")):
            live = sorted(u for u in b.live[n] if not u[0])
            if live:
                r = FILES[32][b.rng.choice(live)[1]]
                yield "clobber", {n: [i.text(), f"    dead renamable ${r} = MOV32ri 12345, implicit-def dead ${FILES[64][UNIT[r][1]]}"]}
        if any(re.match(r"implicit (killed )?\$eflags", o) for o in i.ops) and not any("eflags" in o for o in j.ops):
            yield "flags-clobber", {n: [f"    dead renamable $r11d = MOV32r0 implicit-def dead $eflags", i.text()]}
        if i.op.startswith("JCC") and re.match(r"%bb\.\d+", i.ops[0]) and k + 1 < len(b.code) and b.code[k + 1][1].op.startswith("JMP"):
            n2, j2 = b.code[k + 1]
            if i.ops[0] != j2.ops[0]:
                yield "branch-targets", {n: i.changed(ops=[j2.ops[0]] + i.ops[1:]), n2: j2.changed(ops=[i.ops[0]])}
        if b.frame and i.out() and BITS[i.out()] in (32, 64) and "dead" not in i.defs[0] and not units(i.defs) & units(i.ops):
            yield "frame-pointer", {n: i.changed(defs=[renamed(i.defs[0], "ebp" if BITS[i.out()] == 32 else "rbp")])}


def functions(lines):
    """Name, spill slots as {number: (size, line)}, blocks as lists of line numbers, does it keep a frame pointer."""
    name = section = None
    framed = any('"frame-pointer"="all"' in line for line in lines if line.startswith("  attributes "))
    for n, line in enumerate(lines):
        if line.startswith("name:"):
            name, slots, blocks = line.split(None, 1)[1].strip("'\""), {}, []
        elif name and line == "...":
            yield name, slots, blocks, framed
            name = None
        elif name and line and line[0] != " ":
            section = line.split(":")[0]
        elif name and section == "stack" and "type: spill-slot" in line and "size:" in line:
            slots[re.search(r"id: (\d+)", line)[1]] = (re.search(r" size: (\d+)", line)[1], n)
        elif name and section == "body" and line.startswith("  bb."):
            blocks.append([])
        elif name and section == "body" and re.match(r"    (?!successors:|liveins:)[^ ;]", line):
            blocks[-1].append(n)


def flat(edit):
    return [] if edit is None else edit if isinstance(edit, list) else [edit]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", required=True)
    p.add_argument("--programs", default="bzip2,zlib,lua")
    p.add_argument("--base", default="O2.post-greedy,O2.post-basic,O2.post-pbqp,O2.post-fast,O0.post-fast")
    p.add_argument("--count", type=int, default=1600)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    rng = random.Random(args.seed)
    for old in glob.glob(f"{args.dir}/mir/*/*.mut*.mir"):
        os.remove(old)
    texts, places = {}, collections.defaultdict(lambda: collections.defaultdict(list))
    for path in sorted(f for name in args.programs.split(",") for base in args.base.split(",") for f in glob.glob(f"{args.dir}/mir/{name}/*.{base}.mir")):
        texts[path] = open(path).read().split("\n")
        for name, slots, blocks, framed in functions(texts[path]):
            for numbers in blocks:
                block = Block(texts[path], numbers, slots, rng, framed)
                for kind, edits in (e for source in (spills, operands, calls, order) for e in source(block)):
                    if any(flat(e) != [texts[path][n]] for n, e in edits.items()):
                        places[kind][path, name].append(edits)
    chosen, number = 0, collections.Counter()
    with open(f"{args.dir}/MUTANTS.csv", "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["path", "function", "line", "kind", "verifier", "original", "mutated"])
        while chosen < args.count and any(places.values()):
            for kind in [k for k in sorted(places) if places[k]][: args.count - chosen]:
                path, name = rng.choice(sorted(places[kind]))
                edits = places[kind][path, name].pop(rng.randrange(len(places[kind][path, name])))
                if not places[kind][path, name]:
                    del places[kind][path, name]
                number[path] += 1
                mutant = f"{path[:-4]}.mut{number[path]}.mir"
                lines = [text for n, line in enumerate(texts[path]) for text in (flat(edits[n]) if n in edits else [line])]
                open(mutant, "w").write("\n".join(lines))
                table.writerow([os.path.relpath(mutant, args.dir), name, min(edits) + 1, kind, "-",
                                " | ".join(texts[path][n].strip() for n in sorted(edits)),
                                " | ".join(x.strip() for n in sorted(edits) for x in flat(edits[n]) or ["(deleted)"])])
                chosen += 1
    print(chosen, "mutants of", len(places), "kinds")


if __name__ == "__main__":
    main()
