"""Which statement instance of a kernel a wrong variant breaks first, seen from outside.

Kernel and variant are run with every write recorded: line, loop variables, cell, bits of the value. Inputs are random, so
two writes of the same bits to the same cell are the same computation. The first write of the kernel, in its own
order, that the variant never makes is the broken instance. If there is none, the variant writes too much: its own
first write that the kernel never makes is it.

Local variables have no cells that both know. A write of one counts if the variant still has a variable of that name.
"""

import copy
import re
import subprocess

from pycparser import c_ast, c_generator, c_parser

import validate

MATHS = ["sqrt", "fabs", "exp", "pow", "log", "sin", "cos", "fmax", "fmin", "floor", "ceil", "sqrtf", "expf", "fabsf"]

LOG = r"""
#include <stdio.h>
#include <stdint.h>
#include <string.h>
static FILE *log_file;
static const char *log_cell(const void *p, long *cell);
static void log_write(int line, const char *name, const void *p, double value, const char *at)
{
  long cell = -1;
  uint64_t bits;
  const char *array = log_cell(p, &cell);
  memcpy(&bits, &value, 8);
  fprintf(log_file, "%d|%s|%s|%ld|%llx\n", line, at, array ? array : name, array ? cell : -1, (unsigned long long)bits);
}
static const char *log_at(const char *format, ...)
{
  static char text[400];
  __builtin_va_list list;
  __builtin_va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  return text;
}
"""

SIDES = r"""
static struct array *log_arrays;
static int log_count, log_side;
static const char *log_cell(const void *p, long *cell)
{
  for (int n = 0; n < log_count; n++) {
    const unsigned char *start = log_side ? log_arrays[n].got : log_arrays[n].ref;
    const unsigned char *at = p;
    if (start <= at && at < start + log_arrays[n].size * log_arrays[n].count) {
      *cell = (at - start) / (long)log_arrays[n].size;
      return log_arrays[n].name;
    }
  }
  return 0;
}
"""


def _preprocessed(text):
    """The text with its macros expanded, lines kept by markers; headers are left out."""
    text = re.sub(r"^#include.*$", "", text, flags=re.M)
    made = subprocess.run(["gcc", "-E", "-x", "c", "-"], input=text, capture_output=True, text=True, check=True)
    return "".join(f"double {f}();\n" for f in MATHS) + '# 1 "kernel.c"\n' + re.sub(r"__restrict(__)?|restrict", "", made.stdout)


def _target(node):
    """The place that a statement writes, if it writes data."""
    if isinstance(node, c_ast.Assignment):
        return node.lvalue
    if isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "p--", "++", "--"):
        return node.expr
    return None


class Recorder:
    """Puts a record behind every statement that writes."""

    def __init__(self):
        self.arrays = set()

    def statement(self, node, loops):
        if isinstance(node, c_ast.Compound):
            node.block_items = [self.statement(n, loops) for n in node.block_items or []]
        elif isinstance(node, c_ast.For):
            name = self._iterator(node)
            node.stmt = self.statement(node.stmt, loops + ([name] if name else []))
        elif isinstance(node, (c_ast.While, c_ast.DoWhile, c_ast.Switch)):
            node.stmt = self.statement(node.stmt, loops)
        elif isinstance(node, (c_ast.Case, c_ast.Default)):
            node.stmts = [self.statement(n, loops) for n in node.stmts or []]
        elif isinstance(node, c_ast.If):
            for slot in ("iftrue", "iffalse"):
                if getattr(node, slot) is not None:
                    setattr(node, slot, self.statement(getattr(node, slot), loops))
        else:
            return self._written(node, loops)
        return node

    def _iterator(self, node):
        step = node.next
        if isinstance(step, c_ast.Assignment) and isinstance(step.lvalue, c_ast.ID):
            return step.lvalue.name
        if isinstance(step, c_ast.UnaryOp) and isinstance(step.expr, c_ast.ID):
            return step.expr.name
        return None

    def _written(self, node, loops):
        place, before = _target(node), []
        if isinstance(node, c_ast.Decl) and node.init is not None and isinstance(node.type, c_ast.TypeDecl):
            place = c_ast.ID(node.name)
        if place is None:
            return node
        names = [f"{v}=%d" for v in loops]
        at = c_ast.FuncCall(c_ast.ID("log_at"), c_ast.ExprList(
            [c_ast.Constant("string", '"' + ",".join(names) + '"')] + [c_ast.ID(v) for v in loops]))
        name = place
        while not isinstance(name, c_ast.ID):
            name = getattr(name, "name", None) or getattr(name, "expr", None)
            if name is None:
                return node
        record = c_ast.FuncCall(c_ast.ID("log_write"), c_ast.ExprList([
            c_ast.Constant("int", str(node.coord.line)), c_ast.Constant("string", f'"{name.name}"'),
            c_ast.UnaryOp("&", copy.deepcopy(place)), copy.deepcopy(place), at]))
        if isinstance(node, c_ast.Decl):
            # In the same list, so that the name stays known.
            return _Both([node, record])
        return c_ast.Compound([node, record])


class _Both(c_ast.Compound):
    """Two statements without braces around them."""


class _Generator(c_generator.CGenerator):
    def visit__Both(self, node):
        return "".join(self._generate_stmt(n) for n in node.block_items)

    def visit_Pragma(self, node):
        return "\n"


def recorded(text):
    """The program with its writes recorded, and the names of its functions."""
    unit = c_parser.CParser().parse(_preprocessed(text))
    names = []
    for node in unit.ext:
        if isinstance(node, c_ast.FuncDef):
            names.append(node.decl.name)
            node.body = Recorder().statement(node.body, [])
    unit.ext = [n for n in unit.ext if getattr(n, "name", None) not in MATHS]
    return _Generator().visit(unit), names


def _sources(kernel, text, variant):
    reference, own = recorded(text)
    other, others = recorded(variant)
    other = re.sub(r"^struct \w+\s*\{.*?^\};", "", other, flags=re.S | re.M)
    sizes = [m for m in re.findall(r"^#define \w+ .*$", text, flags=re.M) if re.match(r"#define \w+ [\d(+* )]+$", m)]
    main = validate._main(kernel, 1)
    call = f"  {kernel.function}_ref("
    main = main.replace(call, f"  log_arrays = a; log_count = {len([p for p in kernel.parameters if p.dims])}; log_side = 0; log_file = fopen(\"/dev/fd/3\", \"w\");\n" + call)
    main = main.replace("  variant(", "  fflush(log_file); log_side = 1; log_file = fopen(\"/dev/fd/4\", \"w\");\n  variant(")
    main = re.sub(r"  return compare\(a, \d+\);", "  fflush(log_file); return 1;", main)
    return "\n".join(["#include <math.h>", *sizes, LOG, validate._rename(reference, own, "_ref"),
                      validate._rename(other, others, "_v0"), validate.MAIN, SIDES, main])


def _instance(line):
    number, at, name, cell, bits = line.rstrip("\n").split("|")
    iterators = {v.split("=")[0]: int(v.split("=")[1]) for v in at.split(",") if v}
    return {"line": int(number), "iterators": iterators}, name, int(cell), bits


def first_broken(kernel, text, variant, directory):
    """`{"original": instance}` or `{"candidate": instance}`; nothing if the runs do not say."""
    source, binary = directory / "trace.c", directory / "trace"
    logs = [directory / "ref.log", directory / "got.log"]
    try:
        source.write_text(_sources(kernel, text, variant))
    except Exception:  # the parser knows less C than the variants use
        return None
    built = subprocess.run(["gcc", *validate.FLAGS, "-o", binary, source, "-lm"], capture_output=True, text=True)
    if built.returncode != 0:
        return None
    command = f"exec {binary} 3>{logs[0]} 4>{logs[1]}"
    subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    # A variant that crashes leaves its last record unfinished.
    ours, theirs = [[_instance(line) for line in log.read_text().splitlines() if line.count("|") == 4] for log in logs]
    made = {(name, cell, bits) for _, name, cell, bits in theirs if cell >= 0}
    values = {bits for _, _, _, bits in theirs}
    still = {name for _, name, cell, _ in theirs if cell < 0}
    for instance, name, cell, bits in ours:
        if (name, cell, bits) not in made if cell >= 0 else name in still and bits not in values:
            return {"original": instance}
    known = {(name, cell, bits) for _, name, cell, bits in ours if cell >= 0}
    for instance, name, cell, bits in theirs:
        if cell >= 0 and (name, cell, bits) not in known:
            return {"candidate": instance}
    return None
