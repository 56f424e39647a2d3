#!/usr/bin/env python3
"""Distils LLVM's own description of x86 into the two tables beside this script.

  make.py [--work DIR] [--llvm 19]

Needs `llvm-tblgen-19` and Debian's source package llvm-toolchain-19 (164 MB), which it downloads into DIR if it is not
there. Only what the lifter asks for is kept; see `instructions.txt` and `registers.txt` for their forms.

- operands, ties, early clobbers, implicit operands and flags: `-gen-instr-info`, where TableGen has already inferred
  what the records leave open (`mayLoad`, `hasSideEffects`);
- widths of memory operands and the encoding: `--dump-json`;
- which register form a memory form computes the same as: `-gen-x86-fold-tables`;
- register classes in LLVM's numbering, and what calls preserve: `-gen-register-info`.
"""
import argparse, collections, glob, json, os, re, subprocess

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--work", default="/tmp/llvm-tables")
p.add_argument("--llvm", default="19")
args = p.parse_args()
HERE = os.path.dirname(os.path.abspath(__file__))
os.makedirs(args.work, exist_ok=True)
os.chdir(args.work)


def sh(*command):
    subprocess.run(command, check=True)


if not os.path.isdir("src"):
    if not glob.glob("llvm-toolchain-*.orig.tar.xz"):
        sh("apt-get", "source", "--download-only", f"llvm-toolchain-{args.llvm}")
    os.makedirs("src")
    sh("tar", "-xJf", glob.glob("llvm-toolchain-*.orig.tar.xz")[0], "-C", "src", "--strip-components=1", "--wildcards",
       "*/llvm/lib/Target/X86/*.td", "*/llvm/include/llvm/*.td")
X86, INCLUDE = "src/llvm/lib/Target/X86", "src/llvm/include"
for options, out in ((["--dump-json"], "x86.json"), (["-gen-instr-info"], "instrinfo.inc"),
                     (["-gen-x86-fold-tables", "-asmwriternum=1"], "fold.inc"), (["-gen-register-info"], "reginfo.inc")):
    if not os.path.exists(out):
        sh(f"llvm-tblgen-{args.llvm}", *options, "-I", X86, "-I", INCLUDE, f"{X86}/X86.td", "-o", out)
records = json.load(open("x86.json"))
info, registers = open("instrinfo.inc").read(), open("reginfo.inc").read()

# ---- registers

numbers = {int(n): name for name, n in re.findall(r"^  ([A-Z]\w*) = (\d+),", registers[: registers.index("RegClassID")], re.M)}
members = {name: re.findall(r"X86::(\w+)", body) for name, body in re.findall(r"const MCPhysReg (\w+)\[\] = \{\n(.*?)\n  \};", registers, re.S)}
classes = re.findall(r"\{ (\w+), \w+, \d+, \d+, sizeof\(\w+\), X86::(\w+)RegClassID, (\d+),", registers)
masks = re.findall(r"static const uint32_t (CSR_\w+)_RegMask\[\] = \{ (.*?) \};", registers)
with open(f"{HERE}/registers.txt", "w") as out:
    out.write(f"# Register classes of x86 in LLVM {args.llvm}'s numbering, from 0, and what calls preserve. Made by make.py.\n"
              "# class NAME BITS REGISTER...\n# mask NAME REGISTER...\n")
    for list_name, name, bits in classes:
        out.write(f"class {name.lower()} {bits} {' '.join(r.lower() for r in members[list_name])}\n")
    for name, words in sorted(masks):
        words = [int(w, 16) for w in re.findall(r"0x[0-9a-f]+", words)]
        kept = [numbers[i].lower() for i in sorted(numbers) if i // 32 < len(words) and words[i // 32] >> i % 32 & 1]
        if "32" in name.split("_")[1][:2] or "Win" in name:
            continue
        out.write(f"mask {name.lower()} {' '.join(kept)}\n")

# ---- instructions

body = info[info.index("X86Descs = {"):]
descriptions, rest = body.split("\n  }, {\n", 1)
operand_text, rest = rest.split("\n  }, {\n", 1)
implicit_text = rest.split("\n  }", 1)[0]
operand_pool = re.findall(r"\{ ([^{}]*) \}", operand_text)
implicit_pool = re.findall(r"X86::(\w+)", implicit_text)
row = re.compile(r"\{ (\d+),\t(\d+),\t(\d+),\t\d+,\t\d+,\t(\d+),\t(\d+),\tX86ImpOpBase \+ (\d+),\t(\d+),\t(.*?), 0x[0-9a-f]+ULL \},  // Inst #\d+ = (\w+)")

FLAGS = {"MayLoad": "L", "MayStore": "S", "UnmodeledSideEffects": "E", "Call": "C", "Return": "R", "Branch": "B", "Terminator": "T",
         "Barrier": "F", "Variadic": "V", "Pseudo": "P", "Meta": "M", "Commutable": "X", "Rematerializable": "A"}
# Intel SDM vol. 1, 14.9: legacy SSE instructions with a 16-byte memory operand fault where it is not aligned, save these.
UNALIGNED = re.compile("MOVUP|MOVDQU|LDDQU|PCMP[EI]STR")
ALIGNED_VEX = re.compile("VMOVAP|VMOVDQA|VMOVNT")


def memory_widths(name):
    """Width in bits by the operand's number; 0 if the record does not say."""
    record, widths, at = records.get(name), {}, 0
    if not record or "OutOperandList" not in record:
        return widths
    for operand, _ in record["OutOperandList"]["args"] + record["InOperandList"]["args"]:
        operand = records[operand["def"]]
        parts = (operand.get("MIOperandInfo") or {}).get("args") or [None]
        if len(parts) == 5:
            match = re.fullmatch(r"X86Mem(\d+)AsmOperand", operand["ParserMatchClass"]["def"])
            widths[at] = int(match[1]) if match else 0
        at += len(parts)
    return widths


def immediate_widths(name):
    """How many bits of a number are encoded and how they are extended, by the operand's number, where the record says it."""
    record, widths, at = records.get(name), {}, 0
    if not record or "OutOperandList" not in record:
        return widths
    encoded = {"Imm8": 8, "Imm16": 16, "Imm32": 32, "Imm32S": 32, "Imm64": 64}.get(record.get("ImmT", {}).get("def"))
    for operand, _ in record["OutOperandList"]["args"] + record["InOperandList"]["args"]:
        match = re.fullmatch(r"[iu](\d+)(?:i(\d+))?imm", operand["def"])
        if match:
            bits = int(match[2] or match[1])
            # MOV32ri64 is MOV32ri, which clears the upper half.
            extended = ("u" if name == "MOV32ri64" else "s") if match[2] else ""
            if bits in (8, 16, 32, 64) and encoded in (None, bits):
                widths[at] = f"{bits}{extended}"
        at += len((records[operand["def"]].get("MIOperandInfo") or {}).get("args") or [None])
    return widths


def is_aligned(name, width):
    encoding = records.get(name, {}).get("OpEnc", {}).get("def")
    if encoding == "EncNormal":
        return width == 128 and not UNALIGNED.match(name)
    return bool(ALIGNED_VEX.match(name)) and width >= 128


def operands(name, count, defined, start):
    out, widths, numbers, i = [], memory_widths(name), immediate_widths(name), 0
    while i < count:
        fields = [f.strip() for f in operand_pool[start + i].split(",")]
        kind = fields[2].split("::")[1]
        if i in widths:
            five = [[f.strip() for f in operand_pool[start + i + k].split(",")] for k in range(5)]
            base, index = register_class(five[0]), register_class(five[2])
            plain = {("ptr", "ptr_nosp"): "", ("ptr_tailcall", "ptr_tailcall"): ":tailcall", ("gr64", "gr64_nosp"): ":lea"}
            kept = plain.get((base, index), f":{base}:{index}")
            out.append(f"{'a' if is_aligned(name, widths[i]) else 'm'}{widths[i]}{kept}")
            i += 5
            continue
        text = register_class(fields)
        if kind == "OPERAND_REGISTER" or text.startswith("ptr"):
            assert text != "-", (name, fields)
        else:
            text = {"OPERAND_IMMEDIATE": "i", "OPERAND_PCREL": "b", "OPERAND_COND_CODE": "i", "OPERAND_ROUNDING_CONTROL": "i",
                    "OPERAND_UNKNOWN": "?", "OPERAND_MEMORY": "?"}.get(kind)
            if text is None:
                return None  # GlobalISel's generic opcodes
            if text == "i" and i in numbers:
                text = f"i{numbers[i]}"
        constraint = ",".join(fields[3:])
        tied = re.search(r"TIED_TO\((\d+)\)", constraint)
        text = ("!" if "EARLY_CLOBBER" in constraint else "") + text + (f"={tied[1]}" if tied else "")
        out.append((">" if i < defined else "") + text)
        i += 1
    return out


def register_class(fields):
    if "LookupPtrRegClass" in fields[1]:
        return {"0": "ptr", "1": "ptr_nosp", "2": "ptr_norex", "3": "ptr_norex_nosp", "4": "ptr_tailcall"}[fields[0]]
    match = re.fullmatch(r"X86::(\w+)RegClassID", fields[0])
    return match[1].lower() if match else "-"


folds, narrow = collections.defaultdict(list), collections.defaultdict(list)
class_bits = {name.lower(): int(bits) for _, name, bits in classes}
table = None
for line in open("fold.inc"):
    if m := re.match(r"static const X86FoldTableEntry (\w+)\[\]", line):
        table = m[1]
    elif m := re.match(r"  \{X86::(\w+), X86::(\w+), (.*)\},", line):
        if "Broadcast" not in table:
            place = "2" if table == "Table2Addr" else table[-1]
            kind = "rw" if table == "Table2Addr" else "st" if "FOLDED_STORE" in m[3] else "lx" if "NO_REVERSE" in m[3] else "ld"
            folds[m[2]].append((m[1], kind, place))
            if kind in ("ld", "lx"):
                narrow[m[1]].append((int(place), m[2]))
            if "TB_ALIGN" in m[3]:
                widths = list(memory_widths(m[2]).values())
                assert len(widths) == 1 and (is_aligned(m[2], widths[0]) or widths[0] == 0), m[2]

# What the predicates of a record ask of the processor, by the names that `target-features` uses. Every x86-64 has the rest.
FEATURES = {"AVX512": "avx512f", "VLX": "avx512vl", "FP16": "avx512fp16", "BWI": "avx512bw", "DQI": "avx512dq", "VBMI2": "avx512vbmi2",
            "CDI": "avx512cd", "VNNI": "avx512vnni", "BF16": "avx512bf16", "VBMI": "avx512vbmi", "IFMA": "avx512ifma", "AVX1Only": "avx",
            "VPOPCNTDQ": "avx512vpopcntdq", "BITALG": "avx512bitalg", "VP2INTERSECT": "avx512vp2intersect", "SSE41": "sse4.1",
            "SSE42": "sse4.2", "AMXTILE": "amx-tile"}
EVERYWHERE = {"SSE1", "SSE2", "X87", "MMX", "CMOV", "CX8", "FXSR", "SSEPrefetch", "MFence", "CLFLUSH", "IncDec", "NDD", "EGPR", "CF",
              "FastSHLDRotate", "IndirectThunkCalls", "LAHFSAHF"}


def needs(name):
    asked = set()
    for predicate in records.get(name, {}).get("Predicates", []):
        if predicate["def"] == "Not64BitMode":
            asked.add("32-bit-mode")
        elif (m := re.fullmatch(r"(?:Has|Use)(\w+)", predicate["def"])) and m[1] not in EVERYWHERE:
            asked.add(FEATURES.get(m[1], m[1].lower()))
    # Pseudos that become such instructions have no predicate, or only one that says when they are not chosen.
    if name.startswith("AVX512") or name.endswith("_NOVLX"):
        asked.add("avx512f")
    elif name.startswith("AVX"):
        asked.add("avx2" if name.startswith("AVX2") else "avx")
    return " ".join(sorted(asked))


rows = []
for number, count, defined, uses, defs, implicit, start, flags, name in row.findall(descriptions):
    count, defined, uses, defs, implicit, start = map(int, (count, defined, uses, defs, implicit, start))
    shown = operands(name, count, defined, start)
    if shown is None or name.startswith("G_") or re.search(r"_(EVEX|NF|ND|REV)\b|_(EVEX|NF|ND|REV)_", name):
        continue
    # Where a memory form reads less than the register, the register form only looks at the low part.
    for place, memory in narrow.get(name, []):
        bits = list(memory_widths(memory).values())
        width = class_bits.get(shown[place].split("=")[0])
        if len(bits) == 1 and 0 < bits[0] and width and bits[0] < width and "/" not in shown[place] and "=" not in shown[place]:
            shown[place] += f"/{bits[0]}"
    letters = "".join(v for k, v in FLAGS.items() if f"MCID::{k})" in flags)
    if records.get(name, {}).get("OpEnc", {}).get("def") in ("EncVEX", "EncEVEX", "EncXOP"):
        letters += "Z"
    used = " ".join(r.lower() for r in implicit_pool[implicit: implicit + uses])
    written = " ".join(r.lower() for r in implicit_pool[implicit + uses: implicit + uses + defs])
    fold = " ".join(f"{r}:{kind}" for r, kind, _ in sorted(set((r, k, p) for r, k, p in folds.get(name, []))) if not r.endswith(("_REV", "_NF", "_ND")))
    rows.append("\t".join((name, " ".join(shown), letters, used, written, fold, needs(name))).rstrip("\t"))
with open(f"{HERE}/instructions.txt", "w") as out:
    out.write(f"""# Instructions of x86 as LLVM {args.llvm} describes them, sorted by opcode in byte order. Made by make.py.
# OPCODE<tab>OPERANDS<tab>FLAGS<tab>IMPLICIT USES<tab>IMPLICIT DEFINITIONS<tab>REGISTER FORMS<tab>FEATURES OF THE PROCESSOR
# operands: CLASS, >CLASS defined, ! early clobber, =N tied to operand N (of Machine IR, where an address counts five),
#   /BITS only the low part is read, mBITS an address and the width of the access (0: unknown), aBITS the same that must be aligned, :CLASSES of its registers if
#   not the usual ones, iBITS number of which so many bits are encoded (i: not known), s sign-extended, u zero-extended,
#   b block or symbol, ? anything
# flags: {' '.join(f'{v} {k}' for k, v in FLAGS.items())}
#   Z a vector register is cleared above the result (VEX, EVEX or XOP encoding)
# register forms: OPCODE:ld the operand is loaded, :lx the same but LLVM never takes it apart again (the access is narrower than the
#   register, or masked), :st the result is stored, :rw both
""")
    out.write("\n".join(sorted(rows, key=lambda r: r.split("\t")[0].encode())) + "\n")
print(len(rows), "instructions,", len(classes), "classes,", len(masks), "masks")
