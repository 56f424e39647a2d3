"""Runs variants against their kernel: the independent judge of what is right and what is wrong.

All variants of a kernel are compiled into one program (`gcc -O0 -ffp-contract=off`) that runs the kernel and each
variant, in a process of its own, on the same random inputs and compares every cell bit for bit. Arrays stand between
random padding that differs for the two runs, inner subscripts are checked by the compiler, locals start as garbage:
an access outside an array shows.
"""

import re
import subprocess
import sys
from dataclasses import dataclass, field

FLAGS = ["-O0", "-ffp-contract=off", "-fwrapv", "-w", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error",
         "-ftrivial-auto-var-init=pattern"]
SEEDS = 4

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <unistd.h>
#include <sys/wait.h>
#define PAD 512
static uint64_t state;
static uint64_t next(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static double real(void) { return (double)(next() >> 11) / 4503599627370496.0 - 1.0; }
static void garbage(unsigned char *p, size_t n) { while (n--) *p++ = (unsigned char)(next() >> 32); }
struct array { const char *name; size_t size, count; unsigned char *ref, *got, *pads; };
static void place(struct array *a, const unsigned char *data)
{
  size_t bytes = a->size * a->count, pad = PAD * a->size;
  a->ref = malloc(bytes + 2 * pad);
  a->got = malloc(bytes + 2 * pad);
  a->pads = malloc(bytes + 2 * pad);
  garbage(a->ref, bytes + 2 * pad);
  garbage(a->got, bytes + 2 * pad);
  a->ref += pad;
  a->got += pad;
  memcpy(a->ref, data, bytes);
  memcpy(a->got, data, bytes);
  memcpy(a->pads, a->got - pad, bytes + 2 * pad);
}
static int compare(struct array *a, int narrays)
{
  int wrong = 0;
  for (int n = 0; n < narrays; n++) {
    size_t bytes = a[n].size * a[n].count, pad = PAD * a[n].size;
    size_t different = 0, first = 0;
    for (size_t i = 0; i < a[n].count; i++)
      if (memcmp(a[n].ref + i * a[n].size, a[n].got + i * a[n].size, a[n].size)) {
        if (!different++) first = i;
      }
    if (memcmp(a[n].pads, a[n].got - pad, pad) || memcmp(a[n].pads + pad + bytes, a[n].got + bytes, pad)) {
      printf(" %s:outside", a[n].name);
      wrong = 1;
    }
    if (different) {
      printf(" %s:%zu:%zu", a[n].name, first, different);
      wrong = 1;
    }
  }
  return wrong;
}
"""


def size_of(kernel, parameter):
    """Numbers of the array's bounds."""
    if parameter.dims == ["*"]:
        n = kernel.values["N"]
        return [n * n]
    return [eval(d, {}, dict(kernel.values)) for d in parameter.dims]


def _fill(kernel, p):
    """C that makes one random value of the parameter's type; `i` is the cell."""
    base = p.type.replace("const ", "")
    if base in ("double", "float"):
        small = "real()"
        if re.search(r"inputs: positive", kernel.text):
            small = "(0.6 + 0.5 * real())"
        if re.search(r"inputs: small", kernel.text):
            small = "(0.1 * real())"
        if re.search(r"inputs: dominant", kernel.text) and p.dims and len(p.dims) == 2:
            n = size_of(kernel, p)[1]
            return f"(i / {n} == i % {n} ? {n} + real() : real())"
        return small
    if base == "char":
        return "(char)(next() >> 40) % 4"
    if base in ("unsigned", "unsigned int"):
        return "(unsigned)(next() >> 20)"
    if base == "unsigned char":
        return "(unsigned char)(next() >> 33)"
    return "(int)((next() >> 33) % 101) - 50"


def _main(kernel, count):
    arrays = [p for p in kernel.parameters if p.dims]
    out = [f"typedef void kernel_type({_signature_types(kernel)});"]
    out.append(f"static kernel_type *const variants[] = {{ {', '.join(f'{kernel.function}_v{i}' for i in range(count))} }};")
    out.append("static int run(kernel_type *variant, int seed) {")
    out.append("  state = 88172645463325252ull + 7919 * (uint64_t)seed; for (int i = 0; i < 20; i++) next();")
    out.append("  struct array a[] = {")
    for p in arrays:
        cells = 1
        for d in size_of(kernel, p):
            cells *= d
        out.append(f'    {{ "{p.name}", sizeof({p.type}), {cells}, 0, 0, 0 }},')
    out.append("  };")
    for n, p in enumerate(arrays):
        base = p.type.replace("const ", "")
        out.append(f"  {{ {base} *data = malloc(a[{n}].size * a[{n}].count);")
        out.append(f"    for (size_t i = 0; i < a[{n}].count; i++) data[i] = {_fill(kernel, p)};")
        out.append(f"    place(&a[{n}], (unsigned char *)data); }}")
    args = {"ref": [], "got": []}
    for p in kernel.parameters:
        if p.dims:
            n = arrays.index(p)
            for side in args:
                args[side].append(f"(void *)a[{n}].{side}")
        else:
            if p.name in kernel.values:
                value = str(kernel.values[p.name])
            elif p.name == "count":
                value = str(kernel.values["N"])
            else:
                out.append(f"  {p.type} {p.name}_in = {_fill(kernel, p).replace('real()', '(0.5 + real())')};")
                value = f"{p.name}_in"
            for side in args:
                args[side].append(value)
    out.append(f"  {kernel.function}_ref({', '.join(args['ref'])});")
    out.append(f"  variant({', '.join(args['got'])});")
    for n, p in enumerate(arrays):
        if p.type in ("double", "float"):
            out.append(f"  for (size_t i = 0; i < a[{n}].count; i++) if ((({p.type} *)a[{n}].ref)[i] != (({p.type} *)a[{n}].ref)[i]) {{ printf(\" nan\"); break; }}")
    out.append(f"  return compare(a, {len(arrays)});")
    out.append("}")
    out.append(f"""int main(void) {{
  for (int v = 0; v < {count}; v++) {{
    printf("%d", v);
    fflush(stdout);
    if (fork() == 0) {{
      alarm(2);
      for (int seed = 0; seed < {SEEDS}; seed++)
        if (run(variants[v], seed)) break;
      fflush(stdout);
      _exit(0);
    }}
    int status;
    wait(&status);
    if (WIFSIGNALED(status)) printf(WTERMSIG(status) == 14 ? " hangs" : " crashes");
    printf("\\n");
  }}
  return 0;
}}""")
    return "\n".join(out)


def _signature_types(kernel):
    text = kernel.signature
    return text[text.index("(") + 1:text.rindex(")")]


@dataclass
class Outcome:
    same: bool
    hangs: bool = False
    memory: bool = False  # went outside an array
    nan: bool = False
    cells: dict = field(default_factory=dict)  # array: (first wrong cell, how many)


def _rename(text, names, suffix):
    for name in names:
        text = re.sub(rf"\b{name}\b(?=\s*\()", name + suffix, text)
    return text


def run(kernel, programs, directory):
    """Outcomes of the programs, given as (text, names of its own functions, macros)."""
    pieces = ["#include <math.h>"]
    reference = re.sub(r"/\*.*?\*/", "", kernel.text, flags=re.S)
    pieces.append(_rename(reference, [kernel.function] + kernel.helpers, "_ref"))
    for i, (text, names, macros) in enumerate(programs):
        text = re.sub(r"^struct \w+ \{.*?^\};", "", text, flags=re.S | re.M)
        pieces.append(_rename(text, [kernel.function] + kernel.helpers + names, f"_v{i}"))
        pieces += [f"#undef {m}" for m in macros]
    pieces += [f"#undef {m}" for m in ("min", "max", "floord", "ceild")]
    # The size macros would rename what the C library's headers declare.
    pieces.append(MAIN)
    pieces.append(_main(kernel, len(programs)))
    source = directory / f"{kernel.name}.all.c"
    binary = directory / f"{kernel.name}.all"
    source.write_text("\n".join(pieces))
    built = subprocess.run(["gcc", *FLAGS, "-o", binary, source, "-lm"], capture_output=True, text=True)
    if built.returncode != 0:
        # One text that is no C spoils the batch: find it by halves.
        if len(programs) == 1:
            print(f"{kernel.name}: a variant does not compile: {built.stderr.splitlines()[:2]}", file=sys.stderr)
            return [Outcome(same=False, hangs=True)]
        half = len(programs) // 2
        return run(kernel, programs[:half], directory) + run(kernel, programs[half:], directory)
    lines = subprocess.run([binary], capture_output=True, text=True, check=True).stdout.splitlines()
    binary.unlink()
    return [_outcome(kernel, line) for line in lines]


def _outcome(kernel, line):
    words = line.split()[1:]
    outcome = Outcome(same=not words)
    for word in words:
        if word == "hangs":
            outcome.hangs = True
        elif word == "crashes" or word.endswith(":outside"):
            outcome.memory = True
        elif word == "nan":
            outcome.nan = True
        else:
            name, first, count = word.split(":")
            parameter = next(p for p in kernel.parameters if p.name == name)
            outcome.cells[name] = (subscripts(size_of(kernel, parameter), int(first)), int(count))
    return outcome


def subscripts(dims, flat):
    out = []
    for d in reversed(dims):
        out.insert(0, flat % d)
        flat //= d
    return out
