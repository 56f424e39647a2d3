"""Source rewrites that keep the meaning, whatever the data: each checks its own conditions.

A rewrite takes a `Program` and changes it in place; it returns a description, or None if there is no place for it.
"""

import copy

from pycparser import c_ast

from program import (as_loop, block, identifiers, items_of, parse_expression, parse_statements, plus, replace, show,
                     show_loop, substitute, walk)

MATH = {"sqrt", "pow", "exp", "fmax", "fabs"}


def _expr(text):
    return parse_expression(text)


def sites(program):
    """All (holder list, index, loop, node, enclosing loop variables) of counted loops; holders can be changed."""
    found = []

    def items(holder, around):
        for n, node in enumerate(holder):
            visit(node, holder, n, around)

    def visit(node, holder, n, around):
        if isinstance(node, c_ast.Compound):
            items(node.block_items or [], around)
        elif isinstance(node, c_ast.For):
            loop = as_loop(node)
            if loop:
                found.append((holder, n, loop, node, around))
            body = node.stmt
            if not isinstance(body, c_ast.Compound):
                body = c_ast.Compound([body])
                node.stmt = body
            items(body.block_items, around + ([loop.var] if loop else []))
        elif isinstance(node, c_ast.If):
            for slot in ("iftrue", "iffalse"):
                part = getattr(node, slot)
                if part is not None:
                    if not isinstance(part, c_ast.Compound):
                        part = c_ast.Compound([part])
                        setattr(node, slot, part)
                    items(part.block_items, around)

    items(program.body, [])
    return found


def tidy(program):
    """Removes braces around single statements, so that texts stay readable."""

    def test(node):
        if isinstance(node, c_ast.For) and isinstance(node.stmt, c_ast.Compound):
            new = copy.copy(node)
            new.stmt = block([replace(s, test) for s in node.stmt.block_items or []])
            return new
        return None

    program.body = [replace(n, test) for n in program.body]


def _assigned(node):
    return {n.lvalue.name for n in walk(node) if isinstance(n, c_ast.Assignment) and isinstance(n.lvalue, c_ast.ID)} | {
        n.expr.name for n in walk(node) if isinstance(n, c_ast.UnaryOp) and n.op in ("p++", "++", "p--", "--")
        and isinstance(n.expr, c_ast.ID)}


def _stable(loop, node):
    """Bounds do not change while the loop runs, and the body leaves the counter alone."""
    names = identifiers(loop.lower) | identifiers(loop.upper) | {loop.var}
    inside = (*walk(loop.lower), *walk(loop.upper))
    return not names & _assigned(node.stmt) and not any(isinstance(n, c_ast.ArrayRef) for n in inside) and not any(
        isinstance(n, (c_ast.Break, c_ast.Continue)) for n in walk(node.stmt))


def _pick(program, rng, test=lambda *site: True, step=None):
    found = [s for s in sites(program) if _stable(s[2], s[3]) and (step is None or s[2].step == step) and test(*s)]
    return rng.choice(found) if found else None


def _body(node):
    return items_of(node.stmt)


def _at(body, var, value):
    return [substitute(s, {var: value}) for s in copy.deepcopy(body)]


def _copies(body, var, counter, count):
    """The body at counter, counter + 1, ...; in braces if it declares something."""
    out = []
    for k in range(count):
        once = _at(body, var, plus(_expr(counter), k))
        out += [c_ast.Compound(once)] if any(isinstance(s, c_ast.Decl) for s in once) else once
    return out


def _innermost(node):
    return not any(isinstance(n, c_ast.For) for n in walk(node.stmt))


def unroll(program, rng):
    site = _pick(program, rng, lambda h, n, loop, node, a: len(list(walk(node))) < 500, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    factor = rng.choice([2, 3, 4])
    var, body = loop.var, _body(node)
    main = _copies(body, var, var, factor)
    last = show(plus(copy.deepcopy(loop.upper), 1 - factor))
    end = show(loop.upper)
    text = (f"int {var}; " if loop.declared else "") + \
        f"for ({var} = {show(loop.lower)}; {var} <= {last}; {var} += {factor}) {{}} for (; {var} <= {end}; {var}++) {{}}"
    new = parse_statements(text)
    new[-2].stmt = c_ast.Compound(main)
    new[-1].stmt = block(body)
    holder[n] = c_ast.Compound(new)
    return f"{var} unrolled by {factor} with remainder"


def unroll_switch(program, rng):
    """The remainder first, through a switch that falls through."""
    site = _pick(program, rng, lambda h, n, loop, node, a: _innermost(node), step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    var, q = loop.var, program.name("q")
    low, high = show(loop.lower), show(loop.upper)
    text = f"int {q} = {low}; if ({q} <= {high}) switch (({high} - ({low}) + 1) % 3) {{ case 2: B2; {q}++; case 1: B1; {q}++; default: break; }} " \
        f"for (; {q} <= {high}; {q} += 3) {{}}"
    new = parse_statements(text)
    body = _body(node)

    def fill(m):
        if isinstance(m, c_ast.ID) and m.name in ("B1", "B2"):
            return c_ast.Compound(_at(body, var, _expr(q)))
        return None

    switch = replace(new[1], fill)
    new[2].stmt = c_ast.Compound(_copies(body, var, q, 3))
    holder[n] = c_ast.Compound([new[0], switch, new[2]])
    return f"{var} unrolled by 3, remainder by a switch"


def peel(program, rng):
    site = _pick(program, rng, lambda h, n, loop, node, a: len(list(walk(node))) < 600, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    var, low, high = loop.var, loop.lower, loop.upper
    guard = f"if ({show(low)} <= {show(high)}) {{}}"
    once = parse_statements(guard)[0]
    if rng.random() < 0.5:
        once.iftrue = c_ast.Compound(_at(_body(node), var, low))
        rest = show_loop(var, plus(low, 1), high, 1, block(_body(node)), loop.declared)
        holder[n] = c_ast.Compound([once, rest])
        return f"first iteration of {var} peeled"
    once.iftrue = c_ast.Compound(_at(_body(node), var, high))
    rest = show_loop(var, low, plus(high, -1), 1, block(_body(node)), loop.declared)
    holder[n] = c_ast.Compound([rest, once])
    return f"last iteration of {var} peeled"


def split(program, rng):
    site = _pick(program, rng, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    cut = rng.choice([2, 3, 5])
    middle = f"min({show(loop.upper)}, {show(plus(copy.deepcopy(loop.lower), cut))})"
    begin = f"max({show(loop.lower)}, {middle} + 1)"
    first = show_loop(loop.var, loop.lower, _expr(middle), 1, block(_body(node)), loop.declared)
    second = show_loop(loop.var, _expr(begin), loop.upper, 1, block(copy.deepcopy(_body(node))), loop.declared)
    holder[n] = c_ast.Compound([first, second])
    return f"{loop.var} split after {cut + 1} iterations"


def strip_mine(program, rng):
    site = _pick(program, rng, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    size, outer = rng.choice([2, 3, 4, 5, 8]), program.name("strip")
    inner = show_loop(loop.var, _expr(outer), _expr(f"min({show(loop.upper)}, {outer} + {size - 1})"), 1,
                      block(_body(node)), loop.declared)
    holder[n] = show_loop(outer, loop.lower, loop.upper, size, inner)
    return f"{loop.var} in strips of {size}"


def pluto_tile(program, rng):
    """Strips numbered from floord(lower, size), the way Pluto and CLooG print them."""
    site = _pick(program, rng, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    size, outer = rng.choice([3, 4, 8, 16, 32]), program.name("t")
    low, high = show(loop.lower), show(loop.upper)
    inner = show_loop(loop.var, _expr(f"max({low}, {size} * {outer})"), _expr(f"min({high}, {size} * {outer} + {size - 1})"),
                      1, block(_body(node)), loop.declared)
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


def index_shift(program, rng):
    site = _pick(program, rng, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    by = rng.choice([1, 2, -1, 7])
    new = f"{loop.var}s{abs(by)}"
    if new in identifiers(node):
        return None
    body = _at(_body(node), loop.var, plus(_expr(new), -by))
    holder[n] = show_loop(new, plus(copy.deepcopy(loop.lower), by), plus(copy.deepcopy(loop.upper), by), 1, block(body))
    return f"{loop.var} shifted by {by}"


def count_down(program, rng):
    """The same order, counted by a variable that goes down."""
    site = _pick(program, rng, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    left = program.name("left")
    low, high = show(loop.lower), show(loop.upper)
    value = _expr(f"{high} - {left}")
    holder[n] = show_loop(left, _expr(f"{high} - ({low})"), _expr("0"), -1, block(_at(_body(node), loop.var, value)))
    return f"{loop.var} counted down"


def while_loop(program, rng):
    site = _pick(program, rng)
    if not site:
        return None
    holder, n, loop, node, _ = site
    var, form = loop.var, rng.choice(["while", "do", "break", "for"])
    step = f"{var} += {loop.step};" if loop.step != -1 else f"{var}--;"
    rel, out = ("<=", ">") if loop.step > 0 else (">=", "<")
    start = f"{'int ' if loop.declared else ''}{var} = {show(loop.lower)};"
    body, high = _body(node), show(loop.upper)
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


def collapse(program, rng):
    """Two rectangular loops as one, by division and remainder."""
    def fits(h, n, loop, node, around):
        inner = as_loop(_body(node)[0]) if len(_body(node)) == 1 else None
        return inner and inner.step == 1 and loop.var not in identifiers(inner.lower) | identifiers(inner.upper) \
            and _stable(inner, _body(node)[0]) and not (identifiers(inner.lower) | identifiers(inner.upper)) & _assigned(node)

    site = _pick(program, rng, fits, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    inner_node = _body(node)[0]
    inner = as_loop(inner_node)
    q, width = program.name("both"), program.name("width")
    rows = f"({show(loop.upper)} - ({show(loop.lower)}) + 1)"
    cols = f"({show(inner.upper)} - ({show(inner.lower)}) + 1)"
    outer_value = _expr(f"{show(loop.lower)} + {q} / {width}")
    inner_value = _expr(f"{show(inner.lower)} + {q} % {width}")
    body = [substitute(s, {loop.var: outer_value, inner.var: inner_value}) for s in _body(inner_node)]
    new = parse_statements(f"int {width} = {cols}; for (int {q} = 0; {width} > 0 && {q} < {rows} * {width}; {q}++) {{}}")
    new[1].stmt = c_ast.Compound(body)
    holder[n] = c_ast.Compound(new)
    return f"{loop.var} and {inner.var} collapsed"


def _accesses(node):
    """(text, node, is written) of array accesses, outermost ArrayRef only."""
    out = []

    def visit(n, written):
        if isinstance(n, c_ast.ArrayRef):
            out.append((show(n), n, written))
            m = n
            while isinstance(m, c_ast.ArrayRef):
                visit(m.subscript, False)
                m = m.name
        elif isinstance(n, c_ast.Assignment):
            visit(n.lvalue, True)
            visit(n.rvalue, False)
        else:
            for _, c in n.children():
                visit(c, False)

    visit(node, False)
    return out


def _array(node):
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    return node.name if isinstance(node, c_ast.ID) else None


def element_type(program, array):
    for p in program.kernel.parameters:
        if p.name == array and p.dims:
            return p.type.replace("const ", "")
    for d in program.decls:
        t = d.type
        if d.name == array and isinstance(t, c_ast.ArrayDecl):
            while isinstance(t, c_ast.ArrayDecl):
                t = t.type
            return " ".join(t.type.names)
    return None


def _uses_macros(node):
    return any(isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID) and n.name.name[0] == "S" for n in walk(node))


def _runs(loop):
    """A guard under which the loop has an iteration; None if that cannot fail."""
    return f"{show(loop.lower)} <= {show(loop.upper)}" if loop.step > 0 else f"{show(loop.lower)} >= {show(loop.upper)}"


def scalar_replacement(program, rng):
    """A cell that a loop updates again and again lives in a scalar meanwhile."""
    found = []
    for site in sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared:
            continue
        if _uses_macros(node) or any(isinstance(m, c_ast.For) for m in walk(node.stmt)):
            continue
        locals_ = {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        accesses = _accesses(node.stmt)
        for text in sorted({t for t, m, w in accesses if w}):
            [first, *_] = [m for t, m, w in accesses if t == text]
            array = _array(first)
            same = all(t == text for t, m, _ in accesses if _array(m) == array)
            names = identifiers(first) - {array}
            if same and element_type(program, array) and not names & (_assigned(node) | locals_ | {loop.var}) \
                    and array not in _pointers(program):
                found.append((site, text, array))
    if not found:
        return None
    (holder, n, loop, node, _), text, array = rng.choice(found)
    keep = program.name("keep")
    body = _replace_text(node, text, _expr(keep))
    guard = parse_statements(f"if ({_runs(loop)}) {{ {element_type(program, array)} {keep} = {text}; LOOP; {text} = {keep}; }}")[0]
    guard.iftrue.block_items[1] = body
    holder[n] = guard
    return f"{text} in a scalar over the loop of {loop.var}"


def _pointers(program):
    return {d.name for d in program.decls if isinstance(d.type, c_ast.PtrDecl)}


def _replace_text(node, text, new):
    return replace(node, lambda m: copy.deepcopy(new) if isinstance(m, (c_ast.ArrayRef, c_ast.StructRef)) and show(m) == text else None)


def hoist(program, rng):
    """A load that does not change in a loop, moved before it."""
    found = []
    for site in sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared:
            continue
        if _uses_macros(node):
            continue
        inner = {m.var for m in map(as_loop, walk(node)) if m} | {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        accesses = _accesses(node.stmt)
        written = {_array(m) for _, m, w in accesses if w}
        conditional = any(isinstance(m, (c_ast.If, c_ast.For, c_ast.TernaryOp)) for m in walk(node.stmt))
        for text in sorted({t for t, m, w in accesses if not w}):
            [first, *_] = [m for t, m, w in accesses if t == text]
            names = identifiers(first)
            if not conditional and _array(first) not in written and element_type(program, _array(first)) \
                    and not names & (inner | _assigned(node)):
                found.append((site, text, _array(first)))
    if not found:
        return None
    (holder, n, loop, node, _), text, array = rng.choice(found)
    value = program.name("value")
    guard = parse_statements(f"if ({_runs(loop)}) {{ const {element_type(program, array)} {value} = {text}; LOOP; }}")[0]
    guard.iftrue.block_items[1] = _replace_text(node, text, _expr(value))
    holder[n] = guard
    return f"{text} hoisted out of the loop of {loop.var}"


def row_pointer(program, rng):
    """Rows of an array through a pointer to their first cell."""
    found = []
    for site in sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared:
            continue
        if not _innermost(node) or _uses_macros(node):
            continue
        locals_ = {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        for text, m, w in _accesses(node.stmt):
            if isinstance(m.name, c_ast.ArrayRef) and not identifiers(m.name) & ({loop.var} | locals_ | _assigned(node)) \
                    and element_type(program, _array(m)):
                found.append((site, show(m.name), _array(m), len(_dims(m))))
    found = [f for f in found if f[3] == _rank(program, f[2])]
    if not found:
        return None
    (holder, n, loop, node, _), row, array, _rank_of = rng.choice(found)
    name = program.name("row")
    guard = parse_statements(f"if ({_runs(loop)}) {{ {element_type(program, array)} *{name} = {row}; LOOP; }}")[0]

    def test(m):
        return _expr(name) if isinstance(m, c_ast.ArrayRef) and show(m) == row else None

    guard.iftrue.block_items[1] = replace(node, test)
    holder[n] = guard
    return f"{row} through a pointer"


def walking_pointer(program, rng):
    """Cells along a row through a pointer that moves with the counter."""
    found = []
    for site in sites(program):
        holder, n, loop, node, _ = site
        if not loop.declared or loop.step != 1 or not _innermost(node) or _uses_macros(node) or not _stable(loop, node):
            continue
        locals_ = {d.name for d in walk(node.stmt) if isinstance(d, c_ast.Decl)}
        for text, m, w in _accesses(node.stmt):
            last = isinstance(m.subscript, c_ast.ID) and m.subscript.name == loop.var
            if last and not identifiers(m.name) & ({loop.var} | locals_ | _assigned(node)) \
                    and element_type(program, _array(m)) and len(_dims(m)) == _rank(program, _array(m)):
                found.append((site, text, m))
    if not found:
        return None
    (holder, n, loop, node, _), text, m = rng.choice(found)
    name, kind = program.name("walk"), element_type(program, _array(m))
    if any(p.name == _array(m) and "const" in p.type for p in program.kernel.parameters):
        kind = "const " + kind
    start = f"&{show(m.name)}[{show(loop.lower)}]" if rng.random() < 0.5 else f"{show(m.name)} + ({show(loop.lower)})"
    new = parse_statements(
        f"if ({_runs(loop)}) {{ {kind} *{name} = {start}; "
        f"for (int {loop.var} = {show(loop.lower)}; {loop.var} <= {show(loop.upper)}; {loop.var}++, {name}++) {{}} }}")[0]
    new.iftrue.block_items[1].stmt = _replace_text(node.stmt, text, _expr(f"*{name}"))
    holder[n] = new
    return f"{text} through a pointer that moves"


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

    for holder, n in _assignments(program):
        node = holder[n]
        holder[n] = c_ast.Assignment(node.op, node.lvalue, replace(node.rvalue, test), node.coord)
    return "comparisons mirrored or negated" if changed else None


def _dims(node):
    out = []
    while isinstance(node, c_ast.ArrayRef):
        out.insert(0, node.subscript)
        node = node.name
    return out


def _rank(program, array):
    for p in program.kernel.parameters:
        if p.name == array:
            return len(p.dims) if p.dims else 0
    for d in program.decls:
        if d.name == array:
            rank, t = 0, d.type
            while isinstance(t, c_ast.ArrayDecl):
                rank, t = rank + 1, t.type
            return rank
    return 0


def local_copy(program, rng):
    """An array copied to a local one, used there, copied back if it is written."""
    candidates = [p for p in program.kernel.parameters if p.dims and p.dims != ["*"]]
    if not candidates or _uses_macros(c_ast.Compound(program.body)):
        return None
    p = rng.choice(candidates)
    if any(p.name in identifiers(d) for d in program.decls):
        return None
    name = program.name(p.name + "_copy")
    written = any(w and _array(m) == p.name for s in program.body for _, m, w in _accesses(s)) or any(
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
    body = [substitute(s, {p.name: _expr(name)}) for s in program.body]
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
    for holder, n in _assignments(program):
        holder[n] = replace(holder[n], test)
    return "assignments spelled out" + (", operands exchanged" if flip else "") if changed else None


def _assignments(program):
    """(holder, index) of every assignment statement."""
    found = []
    sites(program)

    def items(holder):
        for n, node in enumerate(holder):
            if isinstance(node, c_ast.Assignment):
                found.append((holder, n))
            elif isinstance(node, c_ast.Compound):
                items(node.block_items or [])
            elif isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)) and isinstance(node.stmt, c_ast.Compound):
                items(node.stmt.block_items or [])
            elif isinstance(node, c_ast.If):
                for part in (node.iftrue, node.iffalse):
                    if isinstance(part, c_ast.Compound):
                        items(part.block_items or [])

    items(program.body)
    return found


def if_for_ternary(program, rng):
    """`x = c ? a : b` as if and else, and the other way round."""
    places = [(h, n) for h, n in _assignments(program) if isinstance(h[n].rvalue, c_ast.TernaryOp) and h[n].op == "="]
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
    places = [(h, n) for h, n in _assignments(program)]
    if not places:
        return None
    holder, n = rng.choice(places)
    node = holder[n]
    texts = []
    for text, m, w in _accesses(node.rvalue):
        if text not in texts and element_type(program, _array(m)):
            texts.append(text)
    types = {t: element_type(program, _array(_expr(t))) for t in texts}
    name = program.name("part")
    value = node.rvalue
    for k, t in enumerate(texts):
        value = _replace_text(value, t, _expr(f"v{k}"))
    free = sorted(identifiers(value) - {f"v{k}" for k in range(len(texts))} - MATH - set(program.kernel.helpers)
                  - set(program.kernel.sizes) - set(program.names))
    kinds = {p.name: p.type for p in program.kernel.parameters if not p.dims}
    kinds |= {d.name: " ".join(d.type.type.names) for d in program.decls
              if isinstance(d.type, c_ast.TypeDecl) and isinstance(d.type.type, c_ast.IdentifierType)}
    counters = {s[2].var for s in sites(program)}
    kinds |= {v: "int" for v in counters}
    target = element_type(program, _array(node.lvalue)) if isinstance(node.lvalue, c_ast.ArrayRef) else \
        kinds.get(getattr(node.lvalue, "name", None))
    if not texts or target is None or any(f not in kinds for f in free) or \
            any(isinstance(m, (c_ast.ArrayRef, c_ast.StructRef)) for m in walk(value)) or _uses_macros(value):
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
    call = _expr(f"{name}({', '.join(texts + free)})")
    holder[n] = c_ast.Assignment(node.op, node.lvalue, call, node.coord)
    return f"right side of line {node.coord.line if node.coord else '?'} in a helper"


def guards(program, rng):
    """A test that always holds, or a block that never runs."""
    site = _pick(program, rng, step=1)
    if not site:
        return None
    holder, n, loop, node, _ = site
    if rng.random() < 0.5:
        extra = parse_statements(f"if (!({loop.var} >= {show(loop.lower)})) continue;")
        node.stmt = c_ast.Compound(extra + _body(node))
        return f"needless continue in the loop of {loop.var}"
    test = parse_statements(f"if ({loop.var} <= {show(loop.upper)} && {loop.var} - 1 < {loop.var}) {{}} else {{ break; }}")[0]
    test.iftrue = c_ast.Compound(_body(node))
    node.stmt = c_ast.Compound([test])
    return f"needless test in the loop of {loop.var}"


def pragma(program, rng):
    """A hint to the compiler, without meaning."""
    site = _pick(program, rng, lambda h, n, loop, node, a: _innermost(node))
    if not site:
        return None
    holder, n, loop, node, _ = site
    text = rng.choice(["ivdep", "vector always", "unroll(4)", "simd"])
    holder.insert(n, c_ast.Pragma(text))
    return f"#pragma {text} at the loop of {loop.var}"


def expand_min_max(node):
    """min and max as nested choices."""

    def test(n):
        if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID) and n.name.name in ("min", "max"):
            a, b = (expand_min_max(e) for e in n.args.exprs)
            rel = "<" if n.name.name == "min" else ">"
            return c_ast.TernaryOp(c_ast.BinaryOp(rel, a, b), copy.deepcopy(a), copy.deepcopy(b))
        return None

    return replace(node, test)


REWRITES = {
    "unroll": unroll, "unroll-switch": unroll_switch, "peel": peel, "split": split, "strip-mine": strip_mine,
    "pluto-tile": pluto_tile, "index-shift": index_shift, "count-down": count_down, "while": while_loop,
    "collapse": collapse, "scalar-replacement": scalar_replacement, "hoist": hoist, "row-pointer": row_pointer,
    "local-copy": local_copy, "spelling": spell_assignment, "if-for-ternary": if_for_ternary, "helper": helper,
    "guards": guards, "pragma": pragma,
    "walking-pointer": walking_pointer, "choice": choice,
}


def apply(program, rng):
    """One random rewrite, tried until one finds a place; returns (name, description)."""
    names = list(REWRITES)
    rng.shuffle(names)
    for name in names[:6]:
        note = REWRITES[name](program, rng)
        if note:
            tidy(program)
            return name, note
    return None
