"""Mistakes: what people and tools get wrong when they transform loops by hand.

A mutation changes a `Program` in place and returns a description and a place, or None. Whether the result really
differs is for `validate` to find out.
"""

import copy

from pycparser import c_ast

from program import (identifiers, items_of, parse_expression, parse_statements, plus, replace, show,
                     show_loop, substitute, walk)
import data_rewrites
import places


def _line(node):
    """The kernel's line of the first statement in the node; what a rewrite made itself is parsed from one line."""
    for n in walk(node):
        if isinstance(n, c_ast.Assignment) and n.coord and n.coord.line > 1:
            return {"original_line": n.coord.line}
    return {}


def _statement(program, rng):
    found = places.assignments_of(program)
    return rng.choice(found) if found else None


@places.on_loop(step=1)
def loop_bound(program, rng, holder, n, loop, node):
    low, high = rng.choice([(1, 0), (0, -1), (0, -1), (0, 1), (-1, 0)])
    holder[n] = show_loop(loop.var, plus(copy.deepcopy(loop.lower), low), plus(copy.deepcopy(loop.upper), high), 1,
                          node.stmt, loop.declared)
    return f"bounds of {loop.var} off by {low}, {high}", _line(node)


def _change_access(program, rng, change, written=None):
    """Applies `change(access)` to one array access of one statement."""
    place = _statement(program, rng)
    if not place:
        return None
    holder, n = place
    accesses = [m for _, m, w in places.accesses_of(holder[n]) if written is None or w == written]
    if not accesses:
        return None
    target = rng.choice(accesses)
    new = change(target)
    if new is None:
        return None
    note = f"{show(new)} for {show(target)}"
    line = _line(holder[n])
    holder[n] = replace(holder[n], lambda m: new if m is target else None)
    return note, line


def subscript(program, rng):
    def change(access):
        access = copy.deepcopy(access)
        parts = []
        m = access
        while isinstance(m, c_ast.ArrayRef):
            parts.append(m)
            m = m.name
        part = rng.choice(parts)
        part.subscript = plus(part.subscript, rng.choice([1, -1]))
        return access

    return _change_access(program, rng, change)


def index_variable(program, rng):
    counters = sorted({s[2].var for s in places.sites(program)})

    def change(access):
        used = sorted(identifiers(access) & set(counters))
        others = [c for c in counters if c in used]
        if not used or len(others) < 2:
            return None
        a, b = rng.sample(others, 2)
        return substitute(access, {a: parse_expression(b), b: parse_expression(a)})

    return _change_access(program, rng, change)


def operand(program, rng):
    def change(access):
        name = places.array_of(access)
        kind, rank = places.element_type(program, name), places.rank_of(program, name)
        others = [p.name for p in program.kernel.parameters if p.name != name and p.dims
                  and places.element_type(program, p.name) == kind and places.rank_of(program, p.name) == rank
                  and p.dims == next((q.dims for q in program.kernel.parameters if q.name == name), None)]
        return substitute(access, {name: parse_expression(rng.choice(others))}) if others else None

    return _change_access(program, rng, change, written=False)


def _change_operation(program, rng, test, change):
    place = _statement(program, rng)
    if not place:
        return None
    holder, n = place
    found = [m for m in _values(holder[n]) if test(m)]
    if not found:
        return None
    target = rng.choice(found)
    new = change(target)
    note = f"{show(new)} for {show(target)}"
    line = _line(holder[n])
    holder[n] = replace(holder[n], lambda m: new if m is target else None)
    return note, line


def _values(node):
    """Nodes of the value that a statement computes, without those of subscripts."""
    if isinstance(node, c_ast.Assignment):
        yield from _values(node.rvalue)
    elif isinstance(node, c_ast.ArrayRef):
        yield node
    else:
        yield node
        for _, child in node.children():
            yield from _values(child)


def operator(program, rng):
    def change(node):
        return c_ast.BinaryOp({"+": "-", "-": "+", "*": "+", "/": "*"}[node.op], node.left, node.right)

    return _change_operation(program, rng, lambda m: isinstance(m, c_ast.BinaryOp) and m.op in "+-*/", change)


def operand_order(program, rng):
    return _change_operation(program, rng, lambda m: isinstance(m, c_ast.BinaryOp) and m.op in "-/",
                             lambda m: c_ast.BinaryOp(m.op, m.right, m.left))


def reassociation(program, rng):
    """(a + b) + c as a + (b + c): another rounding."""
    def test(m):
        return isinstance(m, c_ast.BinaryOp) and m.op in "+*" and isinstance(m.left, c_ast.BinaryOp) and m.left.op == m.op

    return _change_operation(program, rng, test, lambda m: c_ast.BinaryOp(
        m.op, m.left.left, c_ast.BinaryOp(m.op, m.left.right, m.right)))


def constant(program, rng):
    def change(m):
        kind = m.type
        value = m.value
        if kind.startswith("int") or kind.startswith("unsigned"):
            digits = value.rstrip("uU")
            return c_ast.Constant(kind, str(int(digits) + 1) + value[len(digits):])
        digits = value.rstrip("fF")
        return c_ast.Constant(kind, repr(float(digits) + 0.25) + value[len(digits):])

    return _change_operation(program, rng, lambda m: isinstance(m, c_ast.Constant) and "." in m.value or
                             isinstance(m, c_ast.Constant) and m.value.rstrip("uU").isdigit(), change)


def comparison(program, rng):
    """The choice on data the other way round."""
    return _change_operation(program, rng, lambda m: isinstance(m, c_ast.TernaryOp),
                             lambda m: c_ast.TernaryOp(m.cond, m.iffalse, m.iftrue))


def narrow(program, rng):
    """A value rounded to single precision on the way."""
    def test(m):
        return isinstance(m, c_ast.ArrayRef) and places.element_type(program, places.array_of(m)) == "double"

    return _change_operation(program, rng, test, lambda m: parse_expression(f"(float){show(m)}"))


def _blocks(program):
    places.sites(program)
    found = [program.body]
    for node in program.body:
        found += [m.block_items for m in walk(node) if isinstance(m, c_ast.Compound) and m.block_items]
    return found


def swapped(program, rng):
    found = [(b, n) for b in _blocks(program) for n in range(len(b) - 1)
             if not isinstance(b[n], c_ast.Decl) and not isinstance(b[n + 1], c_ast.Decl)]
    if not found:
        return None
    b, n = rng.choice(found)
    b[n], b[n + 1] = b[n + 1], b[n]
    return "two statements swapped", _line(b[n])


def missing(program, rng):
    found = places.assignments_of(program)
    if not found:
        return None
    holder, n = rng.choice(found)
    gone = holder[n]
    holder[n] = c_ast.EmptyStatement()
    return f"{show(gone)} left out", _line(gone)


def stale_scalar(program, rng):
    """A scalar stands for a cell, but is loaded too early or never stored back."""
    found = []
    for site in places.sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared:
            continue
        if not places.is_innermost(node) or places.uses_macros(node):
            continue
        locals_ = {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        for text, m, w in places.accesses_of(node.stmt):
            if places.element_type(program, places.array_of(m)) and not identifiers(m) & locals_:
                found.append((site, text, m, w, loop.var in identifiers(m)))
    if not found:
        return None
    (holder, n, loop, node, _), text, m, written, varies = rng.choice(found)
    keep, kind = program.name("keep"), places.element_type(program, places.array_of(m))
    line = _line(node)
    if varies:
        early = show(substitute(m, {loop.var: loop.lower}))
        new = parse_statements(f"if ({places.runs(loop)}) {{ {kind} {keep} = {early}; LOOP; }}")[0]
        new.iftrue.block_items[1] = _reads(node, text, keep)
        note = f"{text} loaded once before the loop of {loop.var}"
    else:
        new = parse_statements(f"if ({places.runs(loop)}) {{ {kind} {keep} = {text}; LOOP; }}")[0]
        new.iftrue.block_items[1] = places.replace_text(node, text, parse_expression(keep))
        note = f"{text} kept in a scalar and not stored back"
    holder[n] = new
    return note, line


def _reads(node, text, name):
    """Reads of the cell replaced; writes stay."""
    def test(m):
        if isinstance(m, c_ast.Assignment):
            lvalue = m.lvalue
            return c_ast.Assignment(m.op, lvalue, replace(m.rvalue, test), m.coord)
        if isinstance(m, c_ast.ArrayRef) and show(m) == text:
            return parse_expression(name)
        return None

    return replace(node, test)


@places.on_loop(step=1)
def missing_tile(program, rng, holder, n, loop, node):
    """Full tiles only: the rest at the end is forgotten."""
    size, outer = rng.choice([3, 4, 5, 7]), program.name("strip")
    inner = show_loop(loop.var, parse_expression(outer), parse_expression(f"{outer} + {size - 1}"), 1, node.stmt)
    holder[n] = show_loop(outer, loop.lower, plus(copy.deepcopy(loop.upper), 1 - size), size, inner)
    return f"last tile of {size} of {loop.var} missing", _line(node)


@places.on_loop(step=1)
def tile_bound(program, rng, holder, n, loop, node):
    """Tiles that overlap, leave a gap, or run over the end."""
    size, outer = rng.choice([3, 4, 5, 8]), program.name("strip")
    end = rng.choice([f"min({show(loop.upper)}, {outer} + {size})", f"min({show(loop.upper)}, {outer} + {size - 2})",
                      f"{outer} + {size - 1}"])
    inner = show_loop(loop.var, parse_expression(outer), parse_expression(end), 1, node.stmt)
    holder[n] = show_loop(outer, loop.lower, loop.upper, size, inner)
    return f"tile of {loop.var} ends at {end}", _line(node)


@places.on_loop(step=1, test=lambda h, n, loop, node, a: len(list(walk(node))) < 500)
def bad_unroll(program, rng, holder, n, loop, node):
    """Unrolled without the remainder, or with one index twice."""
    factor, twice = rng.choice([2, 3, 4, 5]), rng.random() < 0.4
    var, body, line = loop.var, items_of(node.stmt), _line(node)
    offsets = list(range(factor))
    last = plus(copy.deepcopy(loop.upper), 1 - factor)
    if twice:
        offsets[-1] -= 1
    main = [c_ast.Compound(places.at_value(body, var, plus(parse_expression(var), k))) for k in offsets]
    holder[n] = show_loop(var, loop.lower, last, factor, c_ast.Compound(main))
    return f"{var} unrolled by {factor}, " + ("one index twice" if twice else "no remainder"), line


@places.on_loop(step=1, test=lambda h, n, loop, node, a: len(list(walk(node))) < 600)
def peeled_twice(program, rng, holder, n, loop, node):
    once = parse_statements(f"if ({places.runs(loop)}) {{}}")[0]
    once.iftrue = c_ast.Compound(places.at_value(items_of(node.stmt), loop.var, loop.lower))
    holder[n] = c_ast.Compound([once, node])
    return f"first iteration of {loop.var} peeled and kept", _line(node)


def lost_copy(program, rng):
    """Work on a local copy that is not written back."""
    before = len(program.body)
    note = data_rewrites.local_copy(program, rng)
    if not note or len(program.body) == before + 2:
        return None
    program.body.pop()
    return note + ", not written back", {}


def helper_arguments(program, rng):
    """A helper whose arguments are exchanged at the call."""
    note = data_rewrites.helper(program, rng)
    if not note:
        return None
    name = program.names[-1]
    for node in program.body:
        for m in walk(node):
            if isinstance(m, c_ast.FuncCall) and m.name.name == name and len(m.args.exprs) >= 2:
                a, b = rng.sample(range(len(m.args.exprs)), 2)
                args = m.args.exprs
                args[a], args[b] = args[b], args[a]
                return note + ", arguments exchanged", {}
    return None


MUTATIONS = {
    "off-by-one": loop_bound, "subscript": subscript, "index-variable": index_variable, "operand": operand,
    "operator": operator, "operand-order": operand_order, "reassociation": reassociation, "constant": constant,
    "comparison": comparison, "precision": narrow, "swapped-statements": swapped, "missing-statement": missing,
    "stale-scalar": stale_scalar, "missing-tile": missing_tile, "tile-bound": tile_bound, "bad-unroll": bad_unroll,
    "peeled-twice": peeled_twice, "lost-copy": lost_copy, "helper-arguments": helper_arguments,
}


def apply(program, rng):
    """One random mistake; returns (name, description, place)."""
    names = list(MUTATIONS)
    rng.shuffle(names)
    for name in names[:5]:
        copy_of = program.clone()
        made = MUTATIONS[name](copy_of, rng)
        if made:
            program.__dict__.update(copy_of.__dict__)
            places.tidy(program)
            return name, made[0], made[1]
    return None
