"""Kernels and their variants as trees of C.

A kernel file holds one function with `#pragma scop`; everything before the function is kept as text. A `Program`
is that function with another body: what the generators transform and print.
"""

import copy
import re
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

MIN_MAX = """\
#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))
"""
FLOORD = """\
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define ceild(n, d) floord((n) + (d) - 1, d)
"""
MIN_MAX_INLINE = """\
static inline int min(int x, int y) { return x < y ? x : y; }
static inline int max(int x, int y) { return x > y ? x : y; }
"""
FLOORD_INLINE = """\
static inline int floord(int n, int d) { return n < 0 ? -((-n + d - 1) / d) : n / d; }
static inline int ceild(int n, int d) { return floord(n + d - 1, d); }
"""


def parse(text):
    return c_parser.CParser().parse(text)


def parse_statements(text, typedefs=""):
    """The statements of a fragment."""
    unit = parse(typedefs + "void f(void) {" + text + "}")
    return unit.ext[-1].body.block_items or []


def parse_expression(text):
    return parse_statements(text + ";")[0]


class _Generator(c_generator.CGenerator):
    """Two spaces, and no declaration lists that pycparser would split."""

    def __init__(self):
        super().__init__(reduce_parentheses=True)

    def visit_Pragma(self, node):
        return "#pragma " + (node.string or "") + "\n"


def show(node):
    return _Generator().visit(node)


@dataclass
class Parameter:
    """One argument of the kernel."""

    name: str
    type: str
    dims: list  # texts of the array bounds; None for a scalar, ["*"] for a bare pointer


@dataclass
class Kernel:
    name: str
    path: Path
    text: str
    function: str
    header: str  # includes, size macros, structs, helpers: everything before the function
    helpers: list  # names of helper functions in the header
    signature: str
    parameters: list
    values: dict  # --param values
    decls: list
    body: list
    sizes: list = field(default_factory=list)


@dataclass
class Program:
    """A function body to print."""

    kernel: Kernel
    decls: list
    body: list
    prelude: list = field(default_factory=list)  # texts before the function
    names: list = field(default_factory=list)  # functions defined in the prelude
    macros: list = field(default_factory=list)  # macros defined in the prelude
    fresh: int = 0

    def clone(self):
        return Program(self.kernel, copy.deepcopy(self.decls), copy.deepcopy(self.body), list(self.prelude),
                       list(self.names), list(self.macros), self.fresh)

    def name(self, stem):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def render(self):
        kernel = self.kernel
        out = [re.sub(r"/\*.*?\*/\n?", "", kernel.header, flags=re.S).strip("\n")]
        out += [text.rstrip("\n") for text in self.prelude]
        out.append("")
        out.append(kernel.signature)
        out.append("{")
        for node in self.decls:
            out.append(show(node) + ";")
        out.append("#pragma scop")
        generator = _Generator()
        out += [generator._generate_stmt(node) for node in self.body]
        out.append("#pragma endscop")
        out.append("}")
        return indent("\n".join(out))


def indent(text):
    """Two spaces a level, braces at the end of the line that opens them."""
    out, depth, nested = [], 0, 0
    owed = []  # levels that the headers without braces before this block add
    for line in text.split("\n"):
        line = line.rstrip()
        word = line.strip()
        if not word:
            if depth == 0 and out and out[-1]:
                out.append("")
            continue
        if depth == 0 and word != "{":
            out.append(line)
            continue
        if word.startswith("#"):
            out.append(word)
            continue
        if word == "{":
            if out[-1].strip().split("(")[0].split(" ")[0] in ("for", "while", "if", "else", "do", "switch") and nested:
                out[-1] += " {"
                nested -= 1
            else:
                out.append("  " * (depth + nested) + word)
            owed.append((nested, depth))
            depth += nested + 1
            nested = 0
            continue
        if word.startswith("}"):
            _, depth = owed.pop()
            base = depth + _
            out.append("  " * base + word)
            nested = 0
            if word.endswith("{"):
                owed.append((_, depth))
                depth = base + 1
            continue
        out.append("  " * (depth + nested) + word)
        header = word.split("(")[0].split(" ")[0] in ("for", "while", "if", "else", "do", "switch")
        nested = nested + 1 if header and not word.endswith(";") else 0
    return "\n".join(out) + "\n"


def _blank(match):
    return "\n" * match.group(0).count("\n")


def load(path):
    text = path.read_text()
    params = re.search(r"params:((?:\s+\w+=\d+)+)", text)
    values = {k: int(v) for k, v in (p.split("=") for p in params.group(1).split())}
    plain = re.sub(r"/\*.*?\*/", _blank, text, flags=re.S)
    plain = re.sub(r"^#(?!pragma).*$", "", plain, flags=re.M)
    unit = parse(plain)
    functions = [f for f in unit.ext if isinstance(f, c_ast.FuncDef)]
    [kernel] = [f for f in functions if any(isinstance(s, c_ast.Pragma) for s in f.body.block_items or [])]
    lines = text.split("\n")
    start = kernel.coord.line - 1
    end = next(i for i in range(start, len(lines)) if lines[i].startswith("{"))
    items = kernel.body.block_items
    pragmas = [i for i, s in enumerate(items) if isinstance(s, c_ast.Pragma)]
    parameters = []
    for p in kernel.decl.type.args.params:
        dims, t = [], p.type
        while isinstance(t, c_ast.ArrayDecl):
            dims.append(show(t.dim))
            t = t.type
        if isinstance(t, c_ast.PtrDecl):
            dims, t = ["*"], t.type
        parameters.append(Parameter(p.name, " ".join(t.type.names), dims or None))
    return Kernel(path.stem, path, text, kernel.decl.name, "\n".join(lines[:start]),
                  [f.decl.name for f in functions if f is not kernel], "\n".join(lines[start:end]), parameters, values,
                  items[:pragmas[0]], items[pragmas[0] + 1:pragmas[1]],
                  [k for k in values if re.search(rf"#ifndef {k}\b", text)])


def original(kernel):
    return Program(kernel, copy.deepcopy(kernel.decls), copy.deepcopy(kernel.body))


def children(node):
    return [c for _, c in node.children()]


def walk(node):
    yield node
    for child in children(node):
        yield from walk(child)


def replace(node, test):
    """A copy of the tree in which `test(n)` gives the replacement of n, or None to go on below it."""
    new = test(node)
    if new is not None:
        return new
    node = copy.copy(node)
    for slot in node.__slots__:
        if slot in ("coord", "__weakref__"):
            continue
        value = getattr(node, slot)
        if isinstance(value, c_ast.Node):
            setattr(node, slot, replace(value, test))
        elif isinstance(value, list):
            setattr(node, slot, [replace(v, test) if isinstance(v, c_ast.Node) else v for v in value])
    return node


def substitute(node, mapping):
    """Identifiers replaced by expressions; names of struct members are left alone."""

    def test(n):
        if isinstance(n, c_ast.ID) and n.name in mapping:
            return copy.deepcopy(mapping[n.name])
        if isinstance(n, c_ast.StructRef):
            return c_ast.StructRef(replace(n.name, test), n.type, n.field, n.coord)
        return None

    return replace(node, test)


def identifiers(node):
    return {n.name for n in walk(node) if isinstance(n, c_ast.ID)}


def block(items):
    items = list(items)
    if len(items) == 1 and not isinstance(items[0], (c_ast.Decl, c_ast.If)):
        return items[0]
    return c_ast.Compound(items)


def items_of(node):
    return list(node.block_items or []) if isinstance(node, c_ast.Compound) else [node]


@dataclass
class Loop:
    """A counted loop: `for (v = lower; v <= upper; v += step)` or downwards."""

    var: str
    lower: object
    upper: object  # last admissible value
    step: int
    declared: bool


def plus(node, amount):
    if isinstance(node, c_ast.Constant):
        return c_ast.Constant("int", str(int(node.value) + amount)) if int(node.value) + amount >= 0 else \
            parse_expression(str(int(node.value) + amount))
    if amount == 0:
        return node
    if isinstance(node, c_ast.BinaryOp) and node.op in "+-" and isinstance(node.right, c_ast.Constant):
        old = int(node.right.value) * (1 if node.op == "+" else -1)
        if old + amount == 0:
            return node.left
        return c_ast.BinaryOp("+" if old + amount > 0 else "-", node.left, c_ast.Constant("int", str(abs(old + amount))))
    return c_ast.BinaryOp("+" if amount > 0 else "-", node, c_ast.Constant("int", str(abs(amount))))


def as_loop(node):
    """The counted loop, or None."""
    if not isinstance(node, c_ast.For) or node.init is None or node.cond is None or node.next is None:
        return None
    if isinstance(node.init, c_ast.DeclList):
        var, first, declared = node.init.decls[0].name, node.init.decls[0].init, True
    elif isinstance(node.init, c_ast.Assignment) and isinstance(node.init.lvalue, c_ast.ID):
        var, first, declared = node.init.lvalue.name, node.init.rvalue, False
    else:
        return None
    step = node.next
    if isinstance(step, c_ast.UnaryOp) and step.op in ("p++", "++", "p--", "--"):
        by = 1 if "+" in step.op else -1
    elif isinstance(step, c_ast.Assignment) and step.op in ("+=", "-=") and isinstance(step.rvalue, c_ast.Constant):
        by = int(step.rvalue.value) * (1 if step.op == "+=" else -1)
    else:
        return None
    cond = node.cond
    if not isinstance(cond, c_ast.BinaryOp) or not isinstance(cond.left, c_ast.ID) or cond.left.name != var:
        return None
    if by > 0 and cond.op in ("<", "<="):
        last = cond.right if cond.op == "<=" else plus(cond.right, -1)
        return Loop(var, first, last, by, declared)
    if by < 0 and cond.op in (">", ">="):
        last = cond.right if cond.op == ">=" else plus(cond.right, 1)
        return Loop(var, first, last, by, declared)
    return None


def show_loop(var, first, last, step, body, declared=True):
    """A counted loop as a tree; `first` and `last` are trees."""
    rel = "<=" if step > 0 else ">="
    if step == 1:
        # The form that people write: `i < n` rather than `i <= n - 1`.
        rel, last = "<", plus(last, 1)
    change = {1: f"{var}++", -1: f"{var}--"}.get(step, f"{var} += {step}" if step > 0 else f"{var} -= {-step}")
    text = f"for ({'int ' if declared else ''}{var} = {show(first)}; {var} {rel} {show(last)}; {change}) {{}}"
    node = parse_statements(text)[0]
    node.stmt = body
    return node
