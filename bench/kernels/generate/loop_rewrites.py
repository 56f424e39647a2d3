"""Rewrites of loops that keep the order of all instances, and so the meaning.

Each changes a `Program` in place and returns a description, or None if there is no place for it.
"""

import copy

from pycparser import c_ast

from places import assigned_in, at_value, body_of, copies_of, expr, is_innermost, is_stable, on_loop
from program import (as_loop, block, identifiers, items_of, parse_statements, plus, replace, show, show_loop,
                     substitute, walk)


@on_loop(lambda h, n, loop, node, a: len(list(walk(node))) < 500, step=1)
def unroll(program, rng, holder, n, loop, node):
    factor = rng.choice([2, 3, 4])
    var, body = loop.var, body_of(node)
    main = copies_of(body, var, var, factor)
    last = show(plus(copy.deepcopy(loop.upper), 1 - factor))
    end = show(loop.upper)
    text = (f"int {var}; " if loop.declared else "") + \
        f"for ({var} = {show(loop.lower)}; {var} <= {last}; {var} += {factor}) {{}} for (; {var} <= {end}; {var}++) {{}}"
    new = parse_statements(text)
    new[-2].stmt = c_ast.Compound(main)
    new[-1].stmt = block(body)
    holder[n] = c_ast.Compound(new)
    return f"{var} unrolled by {factor} with remainder"


@on_loop(lambda h, n, loop, node, a: is_innermost(node), step=1)
def unroll_switch(program, rng, holder, n, loop, node):
    """The remainder first, through a switch that falls through."""
    var, q = loop.var, program.name("q")
    low, high = show(loop.lower), show(loop.upper)
    text = f"int {q} = {low}; if ({q} <= {high}) switch (({high} - ({low}) + 1) % 3) {{ case 2: B2; {q}++; case 1: B1; {q}++; default: break; }} " \
        f"for (; {q} <= {high}; {q} += 3) {{}}"
    new = parse_statements(text)
    body = body_of(node)

    def fill(m):
        if isinstance(m, c_ast.ID) and m.name in ("B1", "B2"):
            return c_ast.Compound(at_value(body, var, expr(q)))
        return None

    switch = replace(new[1], fill)
    new[2].stmt = c_ast.Compound(copies_of(body, var, q, 3))
    holder[n] = c_ast.Compound([new[0], switch, new[2]])
    return f"{var} unrolled by 3, remainder by a switch"


@on_loop(lambda h, n, loop, node, a: len(list(walk(node))) < 600, step=1)
def peel(program, rng, holder, n, loop, node):
    var, low, high = loop.var, loop.lower, loop.upper
    guard = f"if ({show(low)} <= {show(high)}) {{}}"
    once = parse_statements(guard)[0]
    if rng.random() < 0.5:
        once.iftrue = c_ast.Compound(at_value(body_of(node), var, low))
        rest = show_loop(var, plus(low, 1), high, 1, block(body_of(node)), loop.declared)
        holder[n] = c_ast.Compound([once, rest])
        return f"first iteration of {var} peeled"
    once.iftrue = c_ast.Compound(at_value(body_of(node), var, high))
    rest = show_loop(var, low, plus(high, -1), 1, block(body_of(node)), loop.declared)
    holder[n] = c_ast.Compound([rest, once])
    return f"last iteration of {var} peeled"


@on_loop(step=1)
def split(program, rng, holder, n, loop, node):
    cut = rng.choice([2, 3, 5])
    middle = f"min({show(loop.upper)}, {show(plus(copy.deepcopy(loop.lower), cut))})"
    begin = f"max({show(loop.lower)}, {middle} + 1)"
    first = show_loop(loop.var, loop.lower, expr(middle), 1, block(body_of(node)), loop.declared)
    second = show_loop(loop.var, expr(begin), loop.upper, 1, block(copy.deepcopy(body_of(node))), loop.declared)
    holder[n] = c_ast.Compound([first, second])
    return f"{loop.var} split after {cut + 1} iterations"


@on_loop(step=1)
def strip_mine(program, rng, holder, n, loop, node):
    size, outer = rng.choice([2, 3, 4, 5, 8]), program.name("strip")
    inner = show_loop(loop.var, expr(outer), expr(f"min({show(loop.upper)}, {outer} + {size - 1})"), 1,
                      block(body_of(node)), loop.declared)
    holder[n] = show_loop(outer, loop.lower, loop.upper, size, inner)
    return f"{loop.var} in strips of {size}"


@on_loop(step=1)
def pluto_tile(program, rng, holder, n, loop, node):
    """Strips numbered from floord(lower, size), the way Pluto and CLooG print them."""
    size, outer = rng.choice([3, 4, 8, 16, 32]), program.name("t")
    low, high = show(loop.lower), show(loop.upper)
    inner = show_loop(loop.var, expr(f"max({low}, {size} * {outer})"), expr(f"min({high}, {size} * {outer} + {size - 1})"),
                      1, block(body_of(node)), loop.declared)
    first = rng.choice([f"floord({low}, {size})", f"ceild({low} - {size - 1}, {size})"])
    if rng.random() < 0.5:
        lb, ub = program.name("lbp"), program.name("ubp")
        text = f"int {lb} = {first}; int {ub} = floord({high}, {size}); for (int {outer} = {lb}; {outer} <= {ub}; {outer}++) {{}}"
        new = parse_statements(text)
        new[-1].stmt = inner
        holder[n] = c_ast.Compound(new)
    else:
        text = f"for (int {outer} = {first}; {outer} <= floord({high}, {size}); {outer}++) {{}}"
        new = parse_statements(text)[0]
        new.stmt = inner
        holder[n] = new
    return f"{loop.var} tiled by {size} with floord"


@on_loop(step=1)
def index_shift(program, rng, holder, n, loop, node):
    by = rng.choice([1, 2, -1, 7])
    new = f"{loop.var}s{abs(by)}"
    if new in identifiers(node):
        return None
    body = at_value(body_of(node), loop.var, plus(expr(new), -by))
    holder[n] = show_loop(new, plus(copy.deepcopy(loop.lower), by), plus(copy.deepcopy(loop.upper), by), 1, block(body))
    return f"{loop.var} shifted by {by}"


@on_loop(step=1)
def count_down(program, rng, holder, n, loop, node):
    """The same order, counted by a variable that goes down."""
    left = program.name("left")
    low, high = show(loop.lower), show(loop.upper)
    value = expr(f"{high} - {left}")
    holder[n] = show_loop(left, expr(f"{high} - ({low})"), expr("0"), -1, block(at_value(body_of(node), loop.var, value)))
    return f"{loop.var} counted down"


@on_loop()
def while_loop(program, rng, holder, n, loop, node):
    var, form = loop.var, rng.choice(["while", "do", "break", "for"])
    step = f"{var} += {loop.step};" if loop.step != -1 else f"{var}--;"
    rel, out = ("<=", ">") if loop.step > 0 else (">=", "<")
    start = f"{'int ' if loop.declared else ''}{var} = {show(loop.lower)};"
    body, high = body_of(node), show(loop.upper)
    tail = parse_statements(step)
    if form == "while":
        new = parse_statements(f"{start} while ({var} {rel} {high}) {{}}")
        new[1].stmt = c_ast.Compound(body + tail)
    elif form == "do":
        new = parse_statements(f"{start} if ({var} {rel} {high}) do {{}} while ({var} {rel} {high});")
        new[1].iftrue.stmt = c_ast.Compound(body + tail)
    elif form == "for":
        new = parse_statements(f"{start} for (; {var} {rel} {high};) {{}}")
        new[1].stmt = c_ast.Compound(body + tail)
    else:
        new = parse_statements(f"{start} while (1) {{ if ({var} {out} {high}) break; }}")
        new[1].stmt = c_ast.Compound(items_of(new[1].stmt) + body + tail)
    holder[n] = c_ast.Compound(new)
    return f"{var} as {form} loop"


def _rectangular(h, n, loop, node, around):
    inner = as_loop(body_of(node)[0]) if len(body_of(node)) == 1 else None
    return inner and inner.step == 1 and loop.var not in identifiers(inner.lower) | identifiers(inner.upper) \
        and is_stable(inner, body_of(node)[0]) and not (identifiers(inner.lower) | identifiers(inner.upper)) & assigned_in(node)


@on_loop(_rectangular, step=1)
def collapse(program, rng, holder, n, loop, node):
    """Two rectangular loops as one, by division and remainder."""
    inner_node = body_of(node)[0]
    inner = as_loop(inner_node)
    q, width = program.name("both"), program.name("width")
    rows = f"({show(loop.upper)} - ({show(loop.lower)}) + 1)"
    cols = f"({show(inner.upper)} - ({show(inner.lower)}) + 1)"
    outer_value = expr(f"{show(loop.lower)} + {q} / {width}")
    inner_value = expr(f"{show(inner.lower)} + {q} % {width}")
    body = [substitute(s, {loop.var: outer_value, inner.var: inner_value}) for s in body_of(inner_node)]
    new = parse_statements(f"int {width} = {cols}; for (int {q} = 0; {width} > 0 && {q} < {rows} * {width}; {q}++) {{}}")
    new[1].stmt = c_ast.Compound(body)
    holder[n] = c_ast.Compound(new)
    return f"{loop.var} and {inner.var} collapsed"


@on_loop(step=1)
def guards(program, rng, holder, n, loop, node):
    """A test that always holds, or a block that never runs."""
    if rng.random() < 0.5:
        extra = parse_statements(f"if (!({loop.var} >= {show(loop.lower)})) continue;")
        node.stmt = c_ast.Compound(extra + body_of(node))
        return f"needless continue in the loop of {loop.var}"
    test = parse_statements(f"if ({loop.var} <= {show(loop.upper)} && {loop.var} - 1 < {loop.var}) {{}} else {{ break; }}")[0]
    test.iftrue = c_ast.Compound(body_of(node))
    node.stmt = c_ast.Compound([test])
    return f"needless test in the loop of {loop.var}"


@on_loop(lambda h, n, loop, node, a: is_innermost(node))
def pragma(program, rng, holder, n, loop, node):
    """A hint to the compiler, without meaning."""
    text = rng.choice(["ivdep", "vector always", "unroll(4)", "simd"])
    holder.insert(n, c_ast.Pragma(text))
    return f"#pragma {text} at the loop of {loop.var}"
