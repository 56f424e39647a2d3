#!/usr/bin/env python3
"""Plants errors into Machine IR from after register allocation (x86-64) that are not about values in registers: what hangs
on instructions, blocks and the header, and what later passes read.

  notes.py [--each N] [--seed S] [--lockstep BIN [--span pre|ssa]] FILE.post-ALLOCATOR.mir...

Writes FILE.attN.mir beside each file. With --lockstep each is checked against the file from before (STEM.pre.mir), and
what is proved is printed. A kind is a function of a function's lines that yields edits: {line: text, list of lines, None}.
"""
import argparse, collections, json, os, random, re, subprocess

REGISTERS = "rax rcx rdx rbx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15".split()
LOW = dict(zip(REGISTERS, "eax ecx edx ebx esi edi ebp r8d r9d r10d r11d r12d r13d r14d r15d".split()))


def each(f, pattern):
    for n in f.code:
        m = re.search(pattern, f.lines[n])
        if m:
            yield n, f.lines[n], m


def replaced(f, kind, pattern, new):
    for n, line, m in each(f, pattern):
        text = line[:m.start()] + (new(m) if callable(new) else m.expand(new)) + line[m.end():]
        if text != line:
            yield kind, {n: text}


def operands(f):
    yield from replaced(f, "undef implicit use", r"implicit (killed )?\$(eflags|cl)\b", r"implicit undef $\2")
    yield from replaced(f, "undef call argument", r"implicit \$(edi|rdi|esi|rsi|edx|xmm0|al)\b", r"implicit undef $\1")
    yield from replaced(f, "implicit definition dropped", r", implicit-def (dead )?\$eflags", "")
    yield from replaced(f, "implicit use dropped", r", implicit (killed )?\$(eflags|cl|mxcsr|edx|eax|rdx)\b", "")
    yield from replaced(f, "implicit stack pointer dropped", r"(CALL64\w+ .*), implicit-def \$rsp", r"\1")
    yield from replaced(f, "call result dropped", r"(CALL64\w+ .*), implicit-def \$(eax|rax|xmm0|al)\b", r"\1")
    yield from replaced(f, "call argument dropped", r"(CALL64\w+ .*), implicit \$(edi|rdi|esi|rsi|edx|al|xmm0)\b", r"\1")
    yield from replaced(f, "dead flags that are read", r"implicit-def \$eflags", "implicit-def dead $eflags")
    yield from replaced(f, "dead result", r"^    (renamable )?(\$\w+ = (?!COPY)\w)", r"    dead \1\2")
    yield from replaced(f, "kill of what is read again", r"(?<!killed )(?<!dead )renamable \$(r\w+|e\w\w|xmm\d+)(?= *[,)]|$)", r"killed renamable $\1")
    yield from replaced(f, "early clobber dropped", r"early-clobber ", "")
    yield from replaced(f, "tie dropped", r"\(tied-def \d+\)", "")
    yield from replaced(f, "renamable fixed register", r"(INLINEASM.* reguse[^$]*\*/, )(\$r\w+)", r"\1renamable \2")
    yield from replaced(f, "lock dropped", r"LOCK_(ADD|SUB|OR|AND|XOR)(\d+m[ri]8?)", r"\1\2")
    yield from replaced(f, "fence dropped", r"^    MFENCE.*", "    ")
    yield from replaced(f, "wait dropped", r"^    (VZEROUPPER|MMX_EMMS).*", "    ")


def memory(f):
    yield from replaced(f, "volatile dropped", r":: \(volatile ", ":: (")
    yield from replaced(f, "ordering dropped", r" (seq_cst|monotonic|acquire|release) ", " ")
    yield from replaced(f, "volatile added", r":: \((load|store) ", r":: (volatile \1 ")
    yield from replaced(f, "invariant added", r":: \(load (\(s\d+\) from %ir)", r":: (dereferenceable invariant load \1")
    yield from replaced(f, "load said to be a store", r":: \(load ", ":: (store ")
    yield from replaced(f, "memory operand dropped", r" :: \((load|store) .*", "")
    yield from replaced(f, "other alias", r"(from|into) %ir\.\w+", r"\1 %stack.0")
    yield from replaced(f, "other width noted", r":: \((load|store) \(s(64|32)\)", lambda m: f":: ({m[1]} (s{96 - int(m[2])})")
    yield from replaced(f, "segment", r"\$noreg, (\$fs|\$gs)", lambda m: "$noreg, " + {"$fs": "$gs", "$gs": "$fs"}[m[1]])
    yield from replaced(f, "segment added", r"(MOV\w+ .*renamable \$r\w+, 1, \$noreg, -?\d+), \$noreg", r"\1, $fs")
    yield from replaced(f, "aligned opcode", r"\bMOVUPS(rm|mr)", r"MOVAPS\1")
    yield from replaced(f, "narrow folded load", r"= (nsw |nofpexcept )*(ADD|SUB|MUL|DIV)SD(rm)", r"= \1\2SS\3")
    yield from replaced(f, "narrow extension", r"MOV([SZ])X32r([rm])8", r"MOV\1X32r\g<2>16")
    yield from replaced(f, "constant pool entry", r"%const\.(\d+)", lambda m: f"%const.{int(m[1]) + 1 if f.has('%const.' + str(int(m[1]) + 1)) else max(0, int(m[1]) - 1)}")
    yield from replaced(f, "frame index", r"(MOV\w+ |LEA\w+ )(.*)%stack\.(\d+)", lambda m: f"{m[1]}{m[2]}%stack.{int(m[3]) + 1}")
    yield from replaced(f, "fixed stack", r"%fixed-stack\.(\d+), 1", lambda m: f"%fixed-stack.{int(m[1]) ^ 1}, 1")
    yield from replaced(f, "offset into a slot", r"%stack\.(\d+), 1, \$noreg, 0,", r"%stack.\1, 1, $noreg, 1,")


def numbers(f):
    yield from replaced(f, "shuffle", r"((?:PSHUF|SHUFP|INSERTPS|PERM|BLEND|PALIGN|PINSR|PEXTR|ROUND|VPTERNLOG|VCMP|CMPS|CMPP)\w+ .*), (\d+)\b(?=,? |$)", lambda m: f"{m[1]}, {int(m[2]) ^ 1}")
    yield from replaced(f, "set condition", r"(SETCC[rm] (?:.*, )?)(\d+)(, implicit)", lambda m: f"{m[1]}{int(m[2]) ^ 1}{m[3]}")
    yield from replaced(f, "move condition", r"(CMOV\d+r[rm] .*, )(\d+)(, implicit)", lambda m: f"{m[1]}{int(m[2]) ^ 1}{m[3]}")
    yield from replaced(f, "branch condition", r"(JCC_1 %bb\.\d+, )(\d+)", lambda m: f"{m[1]}{int(m[2]) ^ 1}")
    yield from replaced(f, "lea scale", r"(LEA64\w* .*, )([248])(, (?:killed )?renamable \$)", lambda m: f"{m[1]}{ {'2': 4, '4': 8, '8': 1}[m[2]] }{m[3]}")
    yield from replaced(f, "lea displacement", r"(LEA64\w* .*\$\w+, )(-?\d+)(, \$noreg)", lambda m: f"{m[1]}{int(m[2]) + 1}{m[3]}")
    yield from replaced(f, "constant beyond its width", r"(MOV32ri) (-?\d+)", lambda m: f"{m[1]} {int(m[2]) + (1 << 32)}")
    yield from replaced(f, "sign of a constant", r"MOV64ri32 (-?\d+)", r"MOV32ri64 \1")
    yield from replaced(f, "call frame size", r"(ADJCALLSTACK\w+) 0, ", r"\1 16, ")
    yield from replaced(f, "popped bytes", r"(ADJCALLSTACKUP64 \d+), 0", r"\1, 8")
    yield from replaced(f, "rotate for shift", r"\bSH([LR])(\d+)r(i|CL)", r"RO\1\2r\3")
    yield from replaced(f, "mask register", r"\$k(\d)\b", lambda m: f"$k{int(m[1]) % 7 + 1}")
    yield from replaced(f, "x87 register", r"\$fp(\d)\b", lambda m: f"$fp{(int(m[1]) + 1) % 7}")
    yield from replaced(f, "mmx register", r"\$mm(\d)\b", lambda m: f"$mm{(int(m[1]) + 1) % 7}")
    yield from replaced(f, "upper half", r"\$ymm(\d+) = COPY (killed )?(renamable )?\$ymm(\d+)", r"$xmm\1 = COPY \2\3$xmm\4")
    yield from replaced(f, "legacy for vex", r"= V(MOVAPS|MOVUPS|ADDPS|MULPS|ADDPD|MULPD|XORPS)rr ", r"= \1rr ")


def targets(f):
    yield from replaced(f, "symbol", r"@(\w+)(?=,)", r"@\1x")
    yield from replaced(f, "symbol offset", r"(@[\w.]+)(?=, \$noreg)", r"\1 + 8")
    yield from replaced(f, "target flags", r"target-flags\((x86-\w+)\) ", "")
    yield from replaced(f, "jump table number", r"%jump-table\.(\d+)", lambda m: f"%jump-table.{int(m[1]) ^ 1}")
    yield from replaced(f, "block address", r"blockaddress\(@(\w+), (%[\w.-]+)\)", r"blockaddress(@\1, \2x)")
    yield from replaced(f, "assembly text", r'(INLINEASM\w*) &("?)(\w+)', r"\1 &\2\3x")
    yield from replaced(f, "assembly flags", r"(INLINEASM\w* &.*?), (\d+) /\* sideeffect", lambda m: f"{m[1]}, {int(m[2]) & ~1} /* ")
    yield from replaced(f, "assembly operand kind", r"(\d+) (/\* reguse)", lambda m: f"{int(m[1]) ^ 8} {m[2]}")
    yield from replaced(f, "exchanged fixed results", r"implicit-def \$(rax|eax), (\d+ /\* regdef \*/), implicit-def \$(rdx|ebx)", r"implicit-def $\3, \2, implicit-def $\1")
    yield from replaced(f, "clobber dropped", r", 12 /\* clobber \*/, implicit-def dead early-clobber \$(rcx|rbx|eflags|r11)\b", "")
    yield from replaced(f, "custom mask", r"csr_64\b", "csr_64_intel_ocl_bi")
    yield from replaced(f, "no mask", r", csr_64\b", "")
    yield from replaced(f, "tail call adjustment", r"(TCRETURN\w+ \S+), 0", r"\1, 8")
    yield from replaced(f, "return pops", r"RET64 implicit", "RETI64 8, implicit")
    if len(f.code) > 3:
        n = f.rng.choice(f.code)
        text = f.lines[n]
        yield "note added", {n: text + ", pcsections !1" if " :: " not in text else text}
        yield "unwind instruction", {n: ["    CFI_INSTRUCTION def_cfa_offset 64", text]}
        yield "label added", {n: ["    EH_LABEL <mcsymbol .Ltmp99>", text]}
        yield "annotation", {n: ["    ANNOTATION_LABEL <mcsymbol .Lx>", text]}
        yield "trap added", {n: ["    UD2", text]}
        yield "rounding changed", {n: ["    LDMXCSR $rsp, 1, $noreg, 0, $noreg, implicit-def $mxcsr :: (load (s32))", text]}
        yield "direction changed", {n: ["    STD implicit-def $df", text]}
        yield "stack pointer moved", {n: ["    $rsp = ADD64ri32 $rsp, 8, implicit-def dead $eflags", text]}
        yield "callee reads a slot", {n: ["    PUSH64r $rax, implicit-def $rsp, implicit $rsp", text]}
        yield "flags lost between", {n: ["    dead $r11d = XOR32rr undef $r11d, undef $r11d, implicit-def dead $eflags", text]}
        yield "load added", {n: ["    dead $r11 = MOV64rm $r10, 1, $noreg, 0, $noreg :: (load (s64))", text]}
        yield "store added", {n: ["    MOV64mr $rsp, 1, $noreg, 0, $noreg, $rax :: (store (s64))", text]}


def blocks(f):
    for n in f.heads:
        line = f.lines[n]
        if "landing-pad" in line:
            yield "landing pad forgotten", {n: line.replace(", landing-pad", "").replace("landing-pad", "")}
        if "address-taken" in line:
            yield "address forgotten", {n: re.sub(r"(, )?(ir|machine)-block-address-taken( %[\w.-]+)?", "", line)}
        if "(" not in line:
            yield "alignment of a block", {n: line.replace(":", " (align 64):")}
    for n in f.lists:
        line = f.lines[n]
        names = re.findall(r"\$\w+", line)
        if "liveins:" in line and names and n > f.heads[0] + 2:
            gone = f.rng.choice(names)
            rest = [x for x in names if x != gone]
            yield "live register forgotten", {n: "    liveins: " + ", ".join(rest) if rest else None}
        if "successors:" in line and line.count("%bb.") == 2:
            a, b = re.findall(r"%bb\.\d+", line)
            yield "successors exchanged", {n: line.replace(a, "#").replace(b, a).replace("#", b)}
            yield "successor forgotten", {n: f"    successors: {b}"}
    for n, m in zip(f.code, f.code[1:]):
        x, y = f.lines[n], f.lines[m]
        call = lambda t: re.match(r"    (CALL64|INLINEASM|MFENCE|LOCK_|XCHG)", t)
        if m == n + 1 and (call(x) or call(y)) and not (call(x) and call(y)) and "ADJ" not in x + y:
            yield "moved across a call", {n: y, m: x}
    for n, line, m in each(f, r"^    (ADJCALLSTACKDOWN64|ADJCALLSTACKUP64|CALL64\w+|INLINEASM\w*|LOCK_\w+|SETCCm|MOV\w+mr|MOV\w+mi)\b"):
        yield "dropped " + ("store" if m[1].startswith(("MOV", "SET")) else m[1].rstrip("0123456789m")), {n: None}
    for n, line, m in each(f, r"^    (CALL64\w+|LOCK_\w+|INC\w+m|ADD\w+mi8?|PUSH\w+) "):
        yield "done twice", {n: [line, line]}


def header(f):
    for n in f.header:
        line = f.lines[n]
        if "type: spill-slot" in line:
            size, at = re.search(r"size: (\d+)", line), re.search(r"alignment: (\d+)", line)
            if size:
                yield "slot is a local", {n: line.replace("type: spill-slot, ", "")}
                yield "slot of one byte", {n: re.sub(r"size: \d+", "size: 1", line)}
            if at:
                yield "slot alignment", {n: re.sub(r"alignment: \d+", "alignment: 1", line)}
            yield "slot of a callee", {n: line.replace("type: spill-slot", "type: spill-slot, callee-saved-register: '$rbx'")}
        elif re.match(r"  - \{ id: \d+, .*size: \d+", line) and "class" not in line:
            yield "local size", {n: re.sub(r"size: (\d+)", lambda m: f"size: {int(m[1]) // 2 or 1}", line)}
            yield "local alignment", {n: re.sub(r"alignment: (\d+)", lambda m: f"alignment: {int(m[1]) * 2}", line)}
            yield "isImmutable", {n: line.replace("isImmutable: true", "isImmutable: false")}
        for key in ("hasCalls", "adjustsStack", "isFrameAddressTaken", "hasOpaqueSPAdjustment", "hasVAStart", "hasTailCall"):
            if re.match(rf"  {key}: ", line):
                yield "frame information", {n: None}
        if line.startswith(("alignment:", "exposesReturnsTwice:", "calleeSavedRegisters:")):
            yield "header line", {n: re.sub(r": .*", ": 1", line)}
        if re.match(r"      blocks: ", line) or re.search(r"blocks: *\[", line):
            names = re.findall(r"'%bb\.[\w.]+'", line)
            if len(set(names)) > 1:
                a, b = names[0], next(x for x in names if x != names[0])
                yield "jump table entries", {n: line.replace(a, "#").replace(b, a).replace("#", b)}
        if re.match(r"    value: ", line):
            yield "constant value", {n: re.sub(r"(\d)(?=\D*$)", lambda m: str((int(m[1]) + 1) % 10), line)}
        if re.match(r"    alignment: ", line):
            yield "constant alignment", {n: "    alignment: 1"}


class Function:
    def __init__(self, lines, start, end, rng):
        self.lines, self.rng = lines, rng
        body = next((n for n in range(start, end) if lines[n].startswith("body:")), end)
        self.name = next(lines[n].split(None, 1)[1].strip("'\"") for n in range(start, end) if lines[n].startswith("name:"))
        self.header = range(start, body)
        self.heads = [n for n in range(body, end) if lines[n].startswith("  bb.")]
        self.lists = [n for n in range(body, end) if re.match(r"    (liveins|successors):", lines[n])]
        self.code = [n for n in range(body, end) if re.match(r"    (?!successors:|liveins:)[^ ;]", lines[n])]
        self.text = "\n".join(lines[start:end])

    def has(self, text):
        return "id:              " + text.split(".")[1] in self.text


def functions(lines, rng):
    start = None
    for n, line in enumerate(lines):
        if line == "---":
            start = n
        elif line == "..." and start is not None:
            yield Function(lines, start, n, rng)
            start = None


def verdict(lockstep, span, mutant, name):
    before = re.sub(r"\.post-.*", f".{span}.mir", mutant)
    run = subprocess.run([lockstep, "check", before, mutant, "--function", name, "--format", "json", "--jobs", "1"], capture_output=True, text=True)
    try:
        return json.loads(run.stdout)["functions"][0]["verdict"]
    except (ValueError, KeyError, IndexError):
        return "error" if run.returncode in (2, 3) else f"exit {run.returncode}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--each", type=int, default=6, help="mutants of a kind")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--lockstep")
    p.add_argument("--span", default="pre")
    args = p.parse_args()
    rng = random.Random(args.seed)
    places = collections.defaultdict(list)
    for path in args.files:
        lines = open(path).read().split("\n")
        for f in functions(lines, rng):
            for source in (operands, memory, numbers, targets, blocks, header):
                for kind, edits in source(f):
                    if any(new != lines[n] for n, new in edits.items()):
                        places[kind].append((path, f.name, lines, edits))
    table, number = collections.defaultdict(collections.Counter), collections.Counter()
    for kind in sorted(places):
        for path, name, lines, edits in rng.sample(places[kind], min(args.each, len(places[kind]))):
            number[path] += 1
            mutant = f"{path[:-4]}.att{number[path]}.mir"
            flat = lambda new: [] if new is None else new if isinstance(new, list) else [new]
            open(mutant, "w").write("\n".join(x for n, line in enumerate(lines) for x in (flat(edits[n]) if n in edits else [line])))
            if args.lockstep:
                found = verdict(args.lockstep, args.span, mutant, name)
                table[kind].update([found])
                if found == "equivalent":
                    print(f"proved: {kind}: {os.path.basename(mutant)} {name}")
                    for n, new in sorted(edits.items()):
                        print(f"  {n + 1}: {lines[n].strip()}\n    => {' | '.join(x.strip() for x in flat(new)) or '(deleted)'}")
                os.remove(mutant)
    for kind, counts in sorted(table.items()):
        print(f"{kind:34} {', '.join(f'{v} {n}' for v, n in sorted(counts.items()))}")
    total = sum(table.values(), collections.Counter())
    print(f"{sum(number.values())} mutants of {len(places)} kinds; {dict(total)}")


if __name__ == "__main__":
    main()
