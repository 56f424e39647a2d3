"""Rewrites of what happens in the loops: scalars and copies for cells, pointers, helpers, other spellings.

Each changes a `Program` in place and returns a description, or None if there is no place for it. Each checks itself
that the meaning stays the same, whatever the data.
"""

import copy

from pycparser import c_ast

from places import (accesses_of, array_of, assigned_in, assignments_of, dims_of, element_type, expr, is_innermost,
                    is_stable, pointers, rank_of, replace_text, runs, sites, uses_macros)
from program import as_loop, identifiers, parse_statements, replace, show, substitute, walk


MATH = {"sqrt", "pow", "exp", "fmax", "fabs"}


def scalar_replacement(program, rng):
    """A cell that a loop updates again and again lives in a scalar meanwhile."""
    found = []
    for site in sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared:
            continue
        if uses_macros(node) or any(isinstance(m, c_ast.For) for m in walk(node.stmt)):
            continue
        locals_ = {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        accesses = accesses_of(node.stmt)
        for text in sorted({t for t, m, w in accesses if w}):
            [first, *_] = [m for t, m, w in accesses if t == text]
            array = array_of(first)
            same = all(t == text for t, m, _ in accesses if array_of(m) == array)
            names = identifiers(first) - {array}
            if same and element_type(program, array) and not names & (assigned_in(node) | locals_ | {loop.var}) \
                    and array not in pointers(program):
                found.append((site, text, array))
    if not found:
        return None
    (holder, n, loop, node, _), text, array = rng.choice(found)
    keep = program.name("keep")
    body = replace_text(node, text, expr(keep))
    guard = parse_statements(f"if ({runs(loop)}) {{ {element_type(program, array)} {keep} = {text}; LOOP; {text} = {keep}; }}")[0]
    guard.iftrue.block_items[1] = body
    holder[n] = guard
    return f"{text} in a scalar over the loop of {loop.var}"


def hoist(program, rng):
    """A load that does not change in a loop, moved before it."""
    found = []
    for site in sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared:
            continue
        if uses_macros(node):
            continue
        inner = {m.var for m in map(as_loop, walk(node)) if m} | {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        accesses = accesses_of(node.stmt)
        written = {array_of(m) for _, m, w in accesses if w}
        conditional = any(isinstance(m, (c_ast.If, c_ast.For, c_ast.TernaryOp)) for m in walk(node.stmt))
        for text in sorted({t for t, m, w in accesses if not w}):
            [first, *_] = [m for t, m, w in accesses if t == text]
            names = identifiers(first)
            if not conditional and array_of(first) not in written and element_type(program, array_of(first)) \
                    and not names & (inner | assigned_in(node)):
                found.append((site, text, array_of(first)))
    if not found:
        return None
    (holder, n, loop, node, _), text, array = rng.choice(found)
    value = program.name("value")
    guard = parse_statements(f"if ({runs(loop)}) {{ const {element_type(program, array)} {value} = {text}; LOOP; }}")[0]
    guard.iftrue.block_items[1] = replace_text(node, text, expr(value))
    holder[n] = guard
    return f"{text} hoisted out of the loop of {loop.var}"


def row_pointer(program, rng):
    """Rows of an array through a pointer to their first cell."""
    found = []
    for site in sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared:
            continue
        if not is_innermost(node) or uses_macros(node):
            continue
        locals_ = {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        for text, m, w in accesses_of(node.stmt):
            if isinstance(m.name, c_ast.ArrayRef) and not identifiers(m.name) & ({loop.var} | locals_ | assigned_in(node)) \
                    and element_type(program, array_of(m)):
                found.append((site, show(m.name), array_of(m), len(dims_of(m))))
    found = [f for f in found if f[3] == rank_of(program, f[2])]
    if not found:
        return None
    (holder, n, loop, node, _), row, array, _rank_of = rng.choice(found)
    name = program.name("row")
    guard = parse_statements(f"if ({runs(loop)}) {{ {element_type(program, array)} *{name} = {row}; LOOP; }}")[0]

    def test(m):
        return expr(name) if isinstance(m, c_ast.ArrayRef) and show(m) == row else None

    guard.iftrue.block_items[1] = replace(node, test)
    holder[n] = guard
    return f"{row} through a pointer"


def walking_pointer(program, rng):
    """Cells along a row through a pointer that moves with the counter."""
    found = []
    for site in sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared or loop.step != 1 or not is_innermost(node) or uses_macros(node) or not is_stable(loop, node):
            continue
        locals_ = {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        for text, m, w in accesses_of(node.stmt):
            last = isinstance(m.subscript, c_ast.ID) and m.subscript.name == loop.var
            if last and not identifiers(m.name) & ({loop.var} | locals_ | assigned_in(node)) \
                    and element_type(program, array_of(m)) and len(dims_of(m)) == rank_of(program, array_of(m)):
                found.append((site, text, m))
    if not found:
        return None
    (holder, n, loop, node, _), text, m = rng.choice(found)
    name, kind = program.name("walk"), element_type(program, array_of(m))
    if any(p.name == array_of(m) and "const" in p.type for p in program.kernel.parameters):
        kind = "const " + kind
    start = f"&{show(m.name)}[{show(loop.lower)}]" if rng.random() < 0.5 else f"{show(m.name)} + ({show(loop.lower)})"
    new = parse_statements(
        f"if ({runs(loop)}) {{ {kind} *{name} = {start}; "
        f"for (int {loop.var} = {show(loop.lower)}; {loop.var} <= {show(loop.upper)}; {loop.var}++, {name}++) {{}} }}")[0]
    new.iftrue.block_items[1].stmt = replace_text(node.stmt, text, expr(f"*{name}"))
    holder[n] = new
    return f"{text} through a pointer that moves"


def local_copy(program, rng):
    """An array copied to a local one, used there, copied back if it is written."""
    candidates = [p for p in program.kernel.parameters if p.dims and p.dims != ["*"]]
    if not candidates or uses_macros(c_ast.Compound(program.body)):
        return None
    p = rng.choice(candidates)
    if any(p.name in identifiers(d) for d in program.decls):
        return None
    name = program.name(p.name + "_copy")
    written = any(w and array_of(m) == p.name for s in program.body for _, m, w in accesses_of(s)) or any(
        isinstance(n, c_ast.Decl) and isinstance(n.type, c_ast.PtrDecl) for s in program.body for n in walk(s)) or any(
        isinstance(n, c_ast.FuncCall) and n.name.name not in MATH for s in program.body for n in walk(s))
    bounds = "".join(f"[{d}]" for d in p.dims)
    counters = [f"{name}_{k}" for k in range(len(p.dims))]
    cells = "".join(f"[{c}]" for c in counters)

    def loops(statement):
        text = statement
        for c, d in reversed(list(zip(counters, p.dims))):
            text = f"for (int {c} = 0; {c} < {d}; {c}++) {text}"
        return parse_statements(text)

    declaration = parse_statements(f"{p.type} {name}{bounds};")
    body = [substitute(s, {p.name: expr(name)}) for s in program.body]
    program.body = declaration + loops(f"{name}{cells} = {p.name}{cells};") + body
    if written:
        program.body += loops(f"{p.name}{cells} = {name}{cells};")
    return f"{p.name} through a local copy"


def spell_assignment(program, rng):
    """`x += y` as `x = x + y`; products and sums with their operands exchanged."""
    flip = rng.random() < 0.6
    changed = []

    def test(node):
        if isinstance(node, c_ast.Assignment) and node.op in ("+=", "-=", "*=", "/=", "^="):
            changed.append(node)
            value = replace(node.rvalue, commute)
            return c_ast.Assignment("=", node.lvalue, c_ast.BinaryOp(node.op[0], copy.deepcopy(node.lvalue), value), node.coord)
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            return c_ast.Assignment("=", node.lvalue, replace(node.rvalue, commute), node.coord)
        return None

    def commute(node):
        if flip and isinstance(node, c_ast.BinaryOp) and node.op in "+*" and rng.random() < 0.5:
            changed.append(node)
            return c_ast.BinaryOp(node.op, replace(node.right, commute), replace(node.left, commute))
        return None

    # Only statements: the loops' own steps stay as they are.
    for holder, n in assignments_of(program):
        holder[n] = replace(holder[n], test)
    return "assignments spelled out" + (", operands exchanged" if flip else "") if changed else None


def choice(program, rng):
    """Comparisons of data mirrored, or the arms of a choice exchanged under the negated condition."""
    mirror = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "=="}
    changed = []

    def test(n):
        if isinstance(n, c_ast.TernaryOp) and isinstance(n.cond, c_ast.BinaryOp) and n.cond.op in mirror:
            changed.append(n)
            yes, no = replace(n.iftrue, test), replace(n.iffalse, test)
            if rng.random() < 0.5:
                return c_ast.TernaryOp(c_ast.BinaryOp(mirror[n.cond.op], n.cond.right, n.cond.left), yes, no)
            return c_ast.TernaryOp(c_ast.UnaryOp("!", n.cond), no, yes)
        return None

    for holder, n in assignments_of(program):
        node = holder[n]
        holder[n] = c_ast.Assignment(node.op, node.lvalue, replace(node.rvalue, test), node.coord)
    return "comparisons mirrored or negated" if changed else None


def if_for_ternary(program, rng):
    """`x = c ? a : b` as if and else, and the other way round."""
    places = [(h, n) for h, n in assignments_of(program) if isinstance(h[n].rvalue, c_ast.TernaryOp) and h[n].op == "="]
    if not places:
        return None
    holder, n = rng.choice(places)
    node = holder[n]
    t = node.rvalue
    holder[n] = c_ast.If(t.cond, c_ast.Compound([c_ast.Assignment("=", node.lvalue, t.iftrue)]),
                         c_ast.Compound([c_ast.Assignment("=", copy.deepcopy(node.lvalue), t.iffalse)]))
    return "if instead of ?:"


def helper(program, rng):
    """The right side of an assignment as a function of the values it uses."""
    places = [(h, n) for h, n in assignments_of(program)]
    if not places:
        return None
    holder, n = rng.choice(places)
    node = holder[n]
    texts = []
    for text, m, w in accesses_of(node.rvalue):
        if text not in texts and element_type(program, array_of(m)):
            texts.append(text)
    types = {t: element_type(program, array_of(expr(t))) for t in texts}
    name = program.name("part")
    value = node.rvalue
    for k, t in enumerate(texts):
        value = replace_text(value, t, expr(f"v{k}"))
    free = sorted(identifiers(value) - {f"v{k}" for k in range(len(texts))} - MATH - set(program.kernel.helpers)
                  - set(program.kernel.sizes) - set(program.names))
    kinds = {p.name: p.type for p in program.kernel.parameters if not p.dims}
    kinds |= {d.name: " ".join(d.type.type.names) for d in program.decls
              if isinstance(d.type, c_ast.TypeDecl) and isinstance(d.type.type, c_ast.IdentifierType)}
    counters = {s[2].var for s in sites(program)}
    kinds |= {v: "int" for v in counters}
    target = element_type(program, array_of(node.lvalue)) if isinstance(node.lvalue, c_ast.ArrayRef) else \
        kinds.get(getattr(node.lvalue, "name", None))
    if not texts or target is None or any(f not in kinds for f in free) or \
            any(isinstance(m, (c_ast.ArrayRef, c_ast.StructRef)) for m in walk(value)) or uses_macros(value):
        return None
    # char and int data are promoted before they reach arithmetic; a double target of integer data would change type.
    of = [types[t] for t in texts]
    result = "double" if "double" in of or any(kinds[f] == "double" for f in free) else of[0]
    if result in ("char", "unsigned char"):
        result = "int"
    parameters = [f"{types[t]} v{k}" for k, t in enumerate(texts)] + [f"{kinds[f]} {f}" for f in free]
    if result == "float" or any(x != y for x in of for y in of) or any(kinds[f] not in (of[0], "int") for f in free):
        return None
    program.prelude.append(f"static {rng.choice(['', 'inline '])}{result} {name}({', '.join(parameters)}) {{ return {show(value)}; }}")
    program.names.append(name)
    call = expr(f"{name}({', '.join(texts + free)})")
    holder[n] = c_ast.Assignment(node.op, node.lvalue, call, node.coord)
    return f"right side of line {node.coord.line if node.coord else '?'} in a helper"
